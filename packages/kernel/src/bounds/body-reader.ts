import { GatheredBytes } from "../bytes/gathered-bytes.ts";
import { nextPiece } from "../bytes/next-piece.ts";
import { FairSemaphore } from "./fair-semaphore.ts";

/** A longer body needs a place. The connection itself takes as much memory. */
const FREE_BYTES = 16_384;
/** Larger bodies in memory at the same time. A sender has at most half. */
const PLACES = 4;
const MOST_WAITING = 256;

/** Longer than any sending client needs: a silent or slow sender holds a connection and its bytes. */
const TOTAL_MS = 30_000;
/** Between two pieces, and for a place. */
const SILENT_MS = 10_000;

/** A body that was not read, with a sentence for its sender. The rest of it is still in its stream. */
export interface BodyFault {
  readonly ok: false;
  /** `busy`: other bodies had all places. `broken`: its sender went away, or its framing is wrong. */
  readonly reason: "too-large" | "late" | "busy" | "broken";
  readonly message: string;
}

const faultOf = (reason: BodyFault["reason"], message: string): BodyFault => ({ ok: false, reason, message });
const silent = faultOf("late", `The body was silent for ${SILENT_MS / 1_000} s.`);
const slow = faultOf("late", `The body took more than ${TOTAL_MS / 1_000} s.`);
const broken = faultOf("broken", "The body broke off before its end.");
const busy = faultOf("busy", "Other large bodies arrive at the same time. Send this one again later.");

/**
 * Reads bodies of many senders into memory. Large ones take turns, round-robin by sender. So the requests
 * of one sender can neither fill the memory nor keep another sender's out.
 *
 * @example
 * const bodies = new BodyReader();
 * const length = await bodies.read("desk", request.body, 8_388_608, (bytes) => bytes.length);
 * console.log(length.ok ? length.value : length.message);
 */
export class BodyReader {
  readonly #places = new FairSemaphore(PLACES, { maxWaiting: MOST_WAITING, hasShares: true });

  /**
   * The result of `use`; the bytes count until it is there. A body has 10 s to get a place, and 30 s to arrive.
   *
   * @throws the fault of `use`
   */
  async read<Value>(
    sender: string,
    reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
    mostBytes: number,
    use: (bytes: Uint8Array<ArrayBuffer>) => Value | Promise<Value>,
  ): Promise<{ readonly ok: true; readonly value: Value } | BodyFault> {
    const bytes = new GatheredBytes();
    let leave: (() => void) | undefined;
    let untilMs = performance.now() + TOTAL_MS;
    try {
      while (reader) {
        const leftMs = Math.max(0, untilMs - performance.now());
        const piece = await nextPiece(reader, Math.min(leftMs, SILENT_MS)).catch(() => "broken" as const);
        if (piece === "broken") return broken;
        if (piece === "late") return leftMs < SILENT_MS ? slow : silent;
        if (piece === undefined) break;
        const length = bytes.length + piece.byteLength;
        if (length > mostBytes) return faultOf("too-large", `The body has more bytes than the limit of ${mostBytes}.`);
        if (length > FREE_BYTES && !leave) {
          const askedMs = performance.now();
          leave = await this.#place(sender);
          if (!leave) return busy;
          untilMs += performance.now() - askedMs;
        }
        bytes.add(piece);
      }
      return { ok: true, value: await use(bytes.take()) };
    } finally {
      leave?.();
    }
  }

  async #place(sender: string): Promise<(() => void) | undefined> {
    const place = this.#places.take([sender]);
    if (place.kind !== "queued") return place.kind === "held" ? place.release : undefined;
    const tooLate = setTimeout(place.leave, SILENT_MS);
    const turn = await place.turn;
    clearTimeout(tooLate);
    return turn.kind === "held" ? turn.release : undefined;
  }
}
