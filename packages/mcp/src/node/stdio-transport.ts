import type { Readable, Writable } from "node:stream";
import { limits } from "@keyhole/kernel";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { clientMessageOf } from "../message.ts";
import { LineReader } from "./line-reader.ts";
import { MOST_WAITING_BYTES } from "./line-writer.ts";

/** As one request over HTTP. */
const MOST_BYTES = limits.inputBytes + 65_536;
/** Of answers that wait for the client. While there are more, the server reads no request. */
const MOST_UNREAD_BYTES = 1_048_576;

/** To an array as well: MCP has no batches. Without an answer the client would wait for ever. */
const noMessage = {
  code: -32_600,
  message: "A line is not one JSON-RPC message. Send one message a line, no batches.",
};

/** JSON-RPC over the stdin and stdout of this process, one message a line. The server does not read a client that does not read. */
export class StdioTransport implements Transport {
  readonly #input: Readable;
  readonly #output: Writable;
  #isClosed = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  constructor(input: Readable = process.stdin, output: Writable = process.stdout) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    const lines = new LineReader(
      MOST_BYTES,
      (line) => this.#hear(line),
      () => {
        this.onerror?.(new RangeError(`The client sent a message of more than ${MOST_BYTES} bytes.`));
        void this.close();
      },
    );
    this.#input.on("data", (chunk: Buffer) => lines.take(chunk));
    this.#input.on("error", (error) => this.onerror?.(error));
    this.#input.once("end", this.#end);
    this.#input.once("close", this.#end);
    // The client is gone: no answer has a reader.
    this.#output.on("error", this.#end);
    this.#output.on("drain", () => void this.#input.resume());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("The client disconnected.");
    if (!this.#write(message)) throw new RangeError("The client does not read its answers.");
  }

  async close(): Promise<void> {
    this.#end();
  }

  #hear(line: string): void {
    if (this.#isClosed || line.trim() === "") return;
    const read = clientMessageOf(line, MOST_BYTES);
    if ("message" in read) return this.#take(read.message);
    const { id, reason: message = noMessage.message } = read;
    this.onerror?.(new SyntaxError("A line of the client is no message of MCP."));
    this.#write({ jsonrpc: "2.0", id, error: { ...noMessage, message } });
  }

  #take(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** `false`: calls that run have answered more than a client that reads leaves. */
  #write(message: object): boolean {
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    const waiting = this.#output.writableLength;
    if (waiting > 0 && waiting + line.length > MOST_WAITING_BYTES) {
      this.onerror?.(
        new RangeError(`More than ${MOST_WAITING_BYTES} bytes wait for the client, which does not read them.`),
      );
      this.#end();
      return false;
    }
    this.#output.write(line);
    if (this.#output.writableLength > MOST_UNREAD_BYTES) this.#input.pause();
    return true;
  }

  readonly #end = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.pause();
    this.onclose?.();
  };
}
