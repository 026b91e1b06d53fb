import type { Readable } from "node:stream";
import { type Clock, visible } from "@keyhole/kernel";

/** Bytes that may arrive at once, and bytes a second after that. A server that writes more waits, as for any reader that is slow. */
const BURST_BYTES = 1_048_576;
const BYTES_PER_SECOND = 65_536;
const KEPT_BYTES = 4_096;

/** Reads what a server says on stderr, at a bounded rate, and keeps its end. */
export class StderrTail {
  readonly #stream: Readable;
  readonly #clock: Clock;
  #allowance = BURST_BYTES;
  #filledMs: number;
  #tail: Buffer = Buffer.alloc(0);
  #stop: () => void = () => {};

  constructor(stream: Readable, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
    this.#filledMs = clock.monotonicMs();
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
    stream.on("error", () => {}); // It ends with its process.
    stream.on("close", () => this.#stop());
  }

  /** The last lines, for the message of a fault. */
  get text(): string {
    return visible(this.#tail.toString("utf8").replaceAll("\uFFFD", "").trim());
  }

  #take(chunk: Buffer): void {
    const nowMs = this.#clock.monotonicMs();
    const filled = this.#allowance + ((nowMs - this.#filledMs) * BYTES_PER_SECOND) / 1_000;
    this.#allowance = Math.min(BURST_BYTES, filled) - chunk.length;
    this.#filledMs = nowMs;
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
    if (this.#allowance > 0) return;
    this.#stream.pause();
    const restMs = Math.ceil((-this.#allowance * 1_000) / BYTES_PER_SECOND) + 1;
    this.#stop = this.#clock.after(restMs, () => this.#stream.resume(), "idly");
  }
}
