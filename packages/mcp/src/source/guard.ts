import type { Clock } from "@keyhole/kernel";
import type { JSONRPCMessage, JSONRPCResponse, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { isRecord } from "../message.ts";
import { DirectCalls } from "./direct-calls.ts";
import type { ChargeReceived, McpEndpoint } from "./endpoint.ts";
import type { RunningCalls, ServedCall } from "./running-calls.ts";

/** In one window. A server that sends more is useless. */
const MOST_MESSAGES = 10_000;
const WINDOW_MS = 10_000;
/** A server has so long to take a message that has no answer. */
const NOTICE_MS = 10_000;

/** Members by which the SDK knows a transport with a process behind it. */
interface ProcessMarks {
  readonly stderr?: unknown;
  readonly pid?: unknown;
}

export interface GuardOptions {
  readonly messageBytes: number;
  readonly clock: Clock;
  readonly running: RunningCalls;
  /** The server asked for something. The client refuses it. */
  readonly onRequest: (method: string) => void;
}

/** A request without an answer. */
interface Awaited {
  /** Ends the stream that the request opened: the server need not. */
  readonly ended: AbortController;
  readonly call: ServedCall | undefined;
}

/** Counts what a server sends in ten seconds. Too much ends the connection. */
export class GuardedTransport implements Transport {
  readonly #inner: Transport;
  readonly #clock: Clock;
  readonly #onRequest: (method: string) => void;
  readonly #running: RunningCalls;
  /** By the ids of the requests. */
  readonly #awaited = new Map<unknown, Awaited>();
  /** For the client's calls of tools, except those of the newer era over HTTP: each needs headers that the SDK makes. */
  readonly calls: DirectCalls;
  readonly hasProcess: boolean;
  #messages = 0;
  #windowMs: number;
  #fault: Error | undefined;
  /** By us: what the server does at its end is no fault. */
  #isClosed = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  constructor(endpoint: McpEndpoint, { messageBytes, clock, running, onRequest }: GuardOptions) {
    const inner = endpoint.open({
      messageBytes,
      clock,
      onFault: (fault) => void this.#end(fault),
      onStray: () => void this.#count(),
      callOf: (request) => this.#awaited.get(request)?.call,
      charge: this.#charge,
    });
    this.#inner = inner;
    this.#clock = clock;
    this.#running = running;
    this.#onRequest = onRequest;
    this.calls = new DirectCalls(clock, (message, options) => this.send(message, options));
    this.#windowMs = clock.monotonicMs();
    const marks = inner as ProcessMarks;
    this.hasProcess = "pid" in marks && "stderr" in marks;
    // Only where the transport has them: the SDK takes any other transport for HTTP.
    if (this.hasProcess) Object.assign(this, { pid: marks.pid, stderr: marks.stderr });
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  /** Why it was ended, where the server was the reason. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  readonly setProtocolVersion = (version: string): void => this.#inner.setProtocolVersion?.(version);
  readonly setSupportedProtocolVersions = (versions: string[]): void =>
    this.#inner.setSupportedProtocolVersions?.(versions);

  start(): Promise<void> {
    this.#inner.onclose = () => {
      this.calls.end();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message, extra) => {
      if (!this.#take(message) || this.calls.take(message)) return;
      // The client handles a notice later than a result that came with it, and forgets whose progress it was.
      if (isResponse(message)) void later().then(() => this.onmessage?.(message, extra));
      else this.onmessage?.(message, extra);
    };
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const ended = new AbortController();
    const signals = [ended.signal, ...(options.requestSignal ? [options.requestSignal] : [])];
    const isRequest = "method" in message && "id" in message;
    if (isRequest) this.#awaited.set(message.id, { ended, call: this.#running.of(options.relatedRequestId) });
    const sent = this.#inner.send(message, { ...options, requestSignal: AbortSignal.any(signals) });
    if (isRequest) {
      // No answer comes to a request that did not leave.
      sent.catch(() => this.#awaited.delete(message.id));
      return sent;
    }
    const stop = this.#clock.after(NOTICE_MS, () => ended.abort(), "idly");
    if ("method" in message && message.method === "notifications/cancelled")
      this.#endStream(message.params?.["requestId"]);
    return sent.finally(stop);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#inner.close();
  }

  readonly #charge: ChargeReceived = (bytes, message, answered) => {
    const call = this.#ownerOf(message) ?? answered;
    // An answer to a call that has ended goes nowhere by itself.
    return call === undefined || call.receive(bytes) || (isRecord(message) && !("method" in message));
  };

  /** A server need not send a message in the stream of its own call. */
  #ownerOf(message: unknown): ServedCall | undefined {
    if (Array.isArray(message)) return message.map((each) => this.#ownerOf(each)).find((call) => call !== undefined);
    if (!isRecord(message)) return undefined;
    const { method, id, params } = message;
    switch (method) {
      case undefined:
        return this.#awaited.get(id)?.call;
      case "notifications/progress":
        return isRecord(params) ? this.#awaited.get(params["progressToken"])?.call : undefined;
      case "notifications/message":
        return this.#running.only;
      default:
        return undefined;
    }
  }

  /** @returns whether the connection goes on */
  #count(): boolean {
    if (this.#fault) return false;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#windowMs >= WINDOW_MS) {
      this.#windowMs = nowMs;
      this.#messages = 0;
    }
    if (++this.#messages > MOST_MESSAGES)
      return this.#end(new RangeError(`The server sent more than ${MOST_MESSAGES} messages in ${WINDOW_MS} ms.`));
    return true;
  }

  #take(message: JSONRPCMessage): boolean {
    if (!this.#count()) return false;
    if (isResponse(message)) return this.#endStream(message.id) && this.#awaited.delete(message.id);
    if ("id" in message && message.method !== "ping") this.#onRequest(message.method);
    return true;
  }

  /** @returns whether a request of this id has no answer yet */
  #endStream(id: unknown): boolean {
    const awaited = this.#awaited.get(id);
    awaited?.ended.abort();
    return awaited !== undefined;
  }

  #end(fault: Error): false {
    if (this.#fault || this.#isClosed) return false;
    this.#fault = fault;
    this.#inner.close().catch(() => {}); // It is gone, or it will be.
    return false;
  }
}

/** Every transport parses its messages; their members tell them apart. */
function isResponse(message: JSONRPCMessage): message is JSONRPCResponse {
  return !("method" in message);
}

/** After what promises have to do that are settled now. */
async function later(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
}
