import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { type Clock, systemClock } from "@keyhole/kernel";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { serverMessageOf } from "../message.ts";
import type { OpenOptions } from "../source/endpoint.ts";
import { LineReader } from "./line-reader.ts";
import { LineWriter } from "./line-writer.ts";
import { ProcessGroup } from "./process-group.ts";
import { StderrTail } from "./stderr-tail.ts";

export interface ProcessCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** JSON-RPC over the pipes of a process of its own. The process leads a group, and the group ends with the connection. */
export class ProcessTransport implements Transport {
  readonly #command: ProcessCommand;
  readonly #options: OpenOptions;
  readonly #clock: Clock;
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #group: ProcessGroup | undefined;
  #lines: LineWriter | undefined;
  #tail: StderrTail | undefined;
  #hasEnded = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** The SDK knows a transport with a process by these two. */
  readonly stderr: undefined = undefined;

  constructor(command: ProcessCommand, options: OpenOptions, clock: Clock = systemClock) {
    this.#command = command;
    this.#options = options;
    this.#clock = clock;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#command;
    const child = spawn(command, [...args], {
      env: { ...getDefaultEnvironment(), ...env },
      ...(cwd !== undefined && { cwd }),
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    });
    this.#group = new ProcessGroup(child);
    this.#tail = new StderrTail(child.stderr, this.#clock);
    const { messageBytes } = this.#options;
    const lines = new LineReader(
      messageBytes,
      (line) => this.#hear(line),
      () => this.#fail(`The server sent a message of more than ${messageBytes} bytes.`),
    );
    child.stdout.on("data", (chunk: Buffer) => lines.take(chunk));
    child.stdout.on("error", () => {}); // It ends with the process.
    this.#lines = new LineWriter(child.stdin);
    // Not "close": its child processes can hold its pipes.
    child.once("exit", (code, signal) => this.#exited(code, signal));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const lines = this.#lines;
    if (!lines || this.#hasEnded) throw new Error("The server has ended.");
    const cancelled = cancelledBy(message);
    // A server learns nothing of a call that it has not begun to read.
    if (cancelled !== undefined && lines.takeBack(cancelled)) return;
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    const isRequest = "method" in message && "id" in message;
    if (!lines.isFull(line.length)) return lines.write(line, isRequest ? message.id : undefined);
    const reason = "Too many messages wait for the server, which does not read them.";
    // One caller can send too much. Answers that wait are the server's own questions.
    if (!isRequest) this.#fail(reason);
    throw new RangeError(reason);
  }

  async close(): Promise<void> {
    this.#lines?.end();
    await this.#group?.end();
    this.#end();
  }

  #hear(line: string): void {
    if (this.#hasEnded || line.trim() === "") return;
    const message = serverMessageOf(line);
    if (message) this.#take(message);
    else this.#options.onStray(); // Some servers print what they do.
  }

  /** A throw would end this process, and not the server's connection. */
  #take(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.#fail(`A message of the server cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#hasEnded) return;
    const said = this.#tail?.text.slice(-300) ?? "";
    const how = signal === null ? `exit code ${code}` : signal;
    this.#options.onFault(new Error(`The server ended with ${how}.${said === "" ? "" : ` It said last: ${said}`}`));
    this.#end();
  }

  #fail(message: string): void {
    this.#options.onFault(new RangeError(message));
    this.#group?.kill();
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#lines?.end();
    this.#child?.stdin.destroy();
    this.#child?.stdout.destroy();
    this.#child?.stderr.destroy();
    this.onclose?.();
  }
}

/** The id of the request that a message cancels. */
function cancelledBy(message: JSONRPCMessage): string | number | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id = message.params?.["requestId"];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
