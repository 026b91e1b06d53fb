import { boundedMessage, type CallPort, type CapabilityReply, type CapabilityRequest } from "@keyhole/kernel";
import { canonicalize } from "@keyhole/kernel/canonical";
import { protocolLimits } from "../protocol/limits.ts";
import type { GuestMessage, GuestRequest } from "../protocol/message.ts";
import { PieceLine } from "./pieces.ts";

/** One running call's way over the port, kept within the protocol's limits whatever the tool does with its context. */
export interface Uplink {
  readonly transport: CallPort;
  reply(request: number, reply: CapabilityReply): void;
  pulled(bytes: Uint8Array | undefined): void;
  readonly pieces: Pick<PieceLine, "taken" | "drained">;
  cancel(): void;
  /** Afterwards nothing of this call is sent. */
  close(): void;
}

type Post = (message: GuestMessage, transfer?: ArrayBuffer[]) => void;
interface Pending {
  readonly message: GuestRequest;
  readonly resolve: (reply: CapabilityReply) => void;
}

// Taken before the tool is loaded, which may replace it.
const Controller = AbortController;

const levels: ReadonlySet<unknown> = new Set(["debug", "info", "warn", "error"]);

export function openUplink(callId: string, post: Post): Uplink {
  const controller = new Controller();
  const inFlight = new Map<number, Pending["resolve"]>();
  const waiting: Pending[] = [];
  let requests = 0;
  let messages = 0;
  const pieces = new PieceLine(callId, post);
  let open = true;
  let isCancelled = false;
  let pulled: Uplink["pulled"] | undefined;

  const say = (message: GuestMessage): void => {
    if (!open || messages >= protocolLimits.messages) return;
    messages += 1;
    post(message);
  };

  const send = ({ message, resolve }: Pending): void => {
    inFlight.set(message.request, resolve);
    post(message, message.body === undefined ? [] : [message.body.buffer as ArrayBuffer]);
  };

  return {
    transport: {
      signal: controller.signal,
      request(request) {
        if (!open) return Promise.resolve(refused("CANCELLED", "The call has ended."));
        if (requests >= protocolLimits.requests)
          return Promise.resolve(
            refused("BOUNDS_EXCEEDED", `More than ${protocolLimits.requests} requests in one call.`),
          );
        const message = requestMessage(callId, requests, request);
        if (!("type" in message)) return Promise.resolve(message);
        requests += 1;
        const { promise, resolve } = Promise.withResolvers<CapabilityReply>();
        const pending = { message, resolve };
        if (inFlight.size < protocolLimits.requestsInFlight) send(pending);
        else waiting.push(pending);
        return promise;
      },
      write: (bytes) => (open ? pieces.write(bytes) : Promise.resolve(false)),
      read() {
        if (!open || isCancelled || pulled) return Promise.resolve(undefined);
        post({ type: "pull", callId });
        return new Promise((resolve) => (pulled = resolve));
      },
      log({ level, message }) {
        say({
          type: "log",
          callId,
          level: levels.has(level) ? level : "info",
          message: boundedMessage(String(message)),
        });
      },
      progress({ done, total, message }) {
        if (!Number.isFinite(done) || (total !== undefined && !Number.isFinite(total))) return;
        const text = message === undefined ? undefined : boundedMessage(String(message));
        say({
          type: "progress",
          callId,
          done,
          ...(total !== undefined && { total }),
          ...(text !== undefined && { message: text }),
        });
      },
    },
    reply(request, reply) {
      inFlight.get(request)?.(reply);
      inFlight.delete(request);
      const next = waiting.shift();
      if (next !== undefined && open) send(next);
    },
    pulled(bytes) {
      pulled?.(bytes);
      pulled = undefined;
    },
    pieces,
    cancel() {
      isCancelled = true;
      controller.abort();
      pieces.stop();
      // Whoever waits for more shall not wait for the kill.
      pulled?.(undefined);
    },
    close() {
      open = false;
    },
  };
}

function requestMessage(callId: string, request: number, asked: CapabilityRequest): GuestRequest | CapabilityReply {
  const text = canonicalize(asked.arguments, protocolLimits.argumentsDepth);
  if (!text.ok) return refused("INVALID_REQUEST", `The request's arguments cannot be sent: ${text.error.message}.`);
  if (text.text.length > protocolLimits.argumentsLength)
    return refused("INVALID_REQUEST", "The request's arguments are too long.");
  if (asked.body !== undefined && asked.body.byteLength > protocolLimits.bodyBytes) {
    return refused("BOUNDS_EXCEEDED", `A body has at most ${protocolLimits.bodyBytes} bytes.`);
  }
  return {
    type: "request",
    callId,
    request,
    kind: asked.kind,
    operation: asked.operation,
    arguments: text.text,
    // A copy: it leaves with its buffer, and the tool keeps its own.
    ...(asked.body !== undefined && { body: new Uint8Array(asked.body) }),
  };
}

type Refused = Extract<CapabilityReply, { ok: false }>;

function refused(code: Refused["error"]["code"], message: string): Refused {
  return { ok: false, error: { code, message, hint: "" } };
}
