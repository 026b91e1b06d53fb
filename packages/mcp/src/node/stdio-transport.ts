import type { Readable, Writable } from "node:stream";
import { limits } from "@keyhole/kernel";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { clientMessageOf } from "../message.ts";
import { LineReader } from "./line-reader.ts";

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
    this.#write(message);
  }

  async close(): Promise<void> {
    this.#end();
  }

  #hear(line: string): void {
    if (this.#isClosed || line.trim() === "") return;
    const message = clientMessageOf(line, MOST_BYTES);
    if (message) return this.onmessage?.(message);
    this.onerror?.(new SyntaxError("A line of the client is no message of MCP."));
    this.#write({ jsonrpc: "2.0", id: null, error: noMessage });
  }

  #write(message: object): void {
    this.#output.write(`${JSON.stringify(message)}\n`);
    if (this.#output.writableLength > MOST_UNREAD_BYTES) this.#input.pause();
  }

  readonly #end = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.pause();
    this.onclose?.();
  };
}
