import type { Clock, JsonObject } from "@keyhole/kernel";
import {
  type CallToolResult,
  isCallToolResult,
  isInputRequiredResult,
  type JSONRPCMessage,
  type RequestId,
  ProtocolError,
  SdkError,
  SdkErrorCode,
} from "@modelcontextprotocol/client";
import { isRecord } from "../message.ts";
import { inputRefused } from "./call-result.ts";

/** Members of other results that have no content. */
const foreignMembers = ["task", "inputRequests", "requestState"];

/** The SDK's own ids are numbers. */
const PREFIX = "keyhole-";

interface DirectCall {
  readonly resolve: (result: CallToolResult) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: (progress: Progress) => void;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface DirectRequest {
  readonly name: string;
  readonly input: JsonObject;
  readonly relatedRequestId: RequestId;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
}

type Send = (message: JSONRPCMessage, options?: Pick<DirectRequest, "relatedRequestId">) => Promise<void>;

/** Members of `_meta` that each message of the newer era has. */
export type Envelope = Readonly<Record<`io.modelcontextprotocol/${string}`, unknown>>;

/** `tools/call` without the SDK's client, which parses each answer with five schemas. Here one schema of the SDK parses it. All other requests are the client's. */
export class DirectCalls {
  readonly #send: Send;
  readonly #open = new Map<string, DirectCall>();
  readonly #clock: Clock;
  #envelope: Envelope | undefined;
  #calls = 0;

  constructor(clock: Clock, send: Send) {
    this.#clock = clock;
    this.#send = send;
  }

  /** The connection is of 2026-07-28. */
  speakModern(envelope: Envelope): void {
    this.#envelope = envelope;
  }

  /** @throws ProtocolError for an error of the server, SdkError for the end of the connection or an answer of another form */
  call({ name, input, relatedRequestId, signal, timeoutMs, onProgress }: DirectRequest): Promise<CallToolResult> {
    const id = `${PREFIX}${this.#calls++}`;
    const { promise, resolve, reject } = Promise.withResolvers<CallToolResult>();
    const cancel = (reason: string): void => {
      const call = this.#taken(id);
      if (!call) return;
      const params = { requestId: id, reason, ...(this.#envelope && { _meta: this.#envelope }) };
      this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => {}); // The server has ended.
      call.reject(new SdkError(SdkErrorCode.RequestTimeout, reason));
    };
    const follow = (): void => cancel(String(signal.reason));
    const stop = this.#clock.after(timeoutMs, () => cancel("The call took too long."));
    this.#open.set(id, { resolve, reject, onProgress });
    if (signal.aborted) follow();
    else {
      signal.addEventListener("abort", follow, { once: true });
      const params = { name, arguments: input, _meta: { ...this.#envelope, progressToken: id } };
      const sent = this.#send({ jsonrpc: "2.0", id, method: "tools/call", params }, { relatedRequestId });
      sent.catch((error: Error) => this.#taken(id)?.reject(error));
    }
    return promise.finally(() => {
      stop();
      signal.removeEventListener("abort", follow);
    });
  }

  /** `true` for a message that belongs to one of these calls, also to one that is over. */
  take(message: JSONRPCMessage): boolean {
    if ("method" in message) return message.method === "notifications/progress" && this.#progressed(message.params);
    const { id } = message;
    if (typeof id !== "string" || !id.startsWith(PREFIX)) return false;
    const call = this.#taken(id);
    if (!call) return true;
    if ("error" in message) {
      const { code, message: text, data } = message.error;
      call.reject(ProtocolError.fromError(code, text, data));
      return true;
    }
    if (isInputRequiredResult(message.result)) {
      call.reject(inputRefused());
      return true;
    }
    const result = this.#envelope ? completeOf(message.result) : withContent(message.result);
    if (isCallToolResult(result)) call.resolve(result);
    else call.reject(new SdkError(SdkErrorCode.InvalidResult, "The result of the server has another form than MCP's."));
    return true;
  }

  /** The connection is over. */
  end(): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { reject } of open) reject(new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed"));
  }

  #taken(id: string): DirectCall | undefined {
    const call = this.#open.get(id);
    this.#open.delete(id);
    return call;
  }

  #progressed(params: unknown): boolean {
    if (!isRecord(params)) return false;
    const { progressToken, progress, total, message } = params;
    if (typeof progressToken !== "string" || !progressToken.startsWith(PREFIX)) return false;
    if (typeof progress === "number")
      this.#open.get(progressToken)?.onProgress({
        progress,
        ...(typeof total === "number" && { total }),
        ...(typeof message === "string" && { message }),
      });
    return true;
  }
}

/** A result of the newer era says that it is one. Other types, such as a request for input, are refused. */
function completeOf(result: object): object | undefined {
  return "resultType" in result && result.resultType === "complete" ? result : undefined;
}

/** Some servers of the older era leave out a content that is empty. */
function withContent(result: object): object {
  const isContentless = !("content" in result) && !foreignMembers.some((name) => name in result);
  return isContentless ? { ...result, content: [] } : result;
}
