import type { CallPort, CapabilityReply } from "@keyhole/kernel";
import { boundedMessage } from "@keyhole/kernel/guest";
import { protocolLimits } from "../protocol/limits.ts";
import type { GuestMessage } from "../protocol/message.ts";
import { PieceChannel } from "./piece-channel.ts";
import { RequestChannel } from "./request-channel.ts";

/**
 * The transport of one running call over the port. It keeps every tool within the limits of the
 * protocol.
 */
export interface Uplink {
  readonly transport: CallPort;
  reply(request: number, reply: CapabilityReply): void;
  pulled(bytes: Uint8Array | undefined): void;
  readonly pieces: Pick<PieceChannel, "taken" | "drained">;
  cancel(): void;
  /** Afterwards nothing of this call is sent, and nothing that arrives for it is handed to the tool. */
  close(): void;
}

type Post = (message: GuestMessage, transfer?: ArrayBuffer[]) => void;

// Taken before the tool is loaded, which may replace it.
const Controller = AbortController;

const levels: ReadonlySet<unknown> = new Set(["debug", "info", "warn", "error"]);

export function openUplink(callId: string, post: Post): Uplink {
  const controller = new Controller();
  const requests = new RequestChannel(callId, post);
  const pieces = new PieceChannel(callId, post);
  let open = true;
  let isCancelled = false;
  let pulled: Uplink["pulled"] | undefined;

  return {
    transport: {
      signal: controller.signal,
      request: (request) => requests.ask(request),
      write: (bytes) => (open ? pieces.write(bytes) : Promise.resolve(false)),
      read() {
        if (!open || isCancelled || pulled) return Promise.resolve(undefined);
        post({ type: "pull", callId });
        return new Promise((resolve) => (pulled = resolve));
      },
      ...reportsOf(callId, (message) => {
        if (open) post(message);
      }),
    },
    // A message after the end wakes no code: the work would belong to no call, and no deadline would end it.
    reply(request, reply) {
      if (open) requests.reply(request, reply);
    },
    pulled(bytes) {
      if (!open) return;
      pulled?.(bytes);
      pulled = undefined;
    },
    pieces: {
      taken(more) {
        if (open) pieces.taken(more);
      },
      drained: () => pieces.drained(),
    },
    cancel() {
      if (!open) return;
      isCancelled = true;
      controller.abort();
      pieces.stop();
      // A reader of more must not wait for the kill.
      pulled?.(undefined);
    },
    close() {
      open = false;
      requests.close();
    },
  };
}

/** Log lines and progress, of which a call has a limited number together. */
function reportsOf(callId: string, post: (message: GuestMessage) => void): Pick<CallPort, "log" | "progress"> {
  let messages = 0;
  const report = (message: GuestMessage): void => {
    messages += 1;
    if (messages <= protocolLimits.messages) post(message);
  };
  return {
    log({ level, message }) {
      const text = boundedMessage(String(message));
      report({ type: "log", callId, level: levels.has(level) ? level : "info", message: text });
    },
    progress({ done, total, message }) {
      if (!Number.isFinite(done) || (total !== undefined && !Number.isFinite(total))) return;
      const text = message === undefined ? undefined : boundedMessage(String(message));
      report({
        type: "progress",
        callId,
        done,
        ...(total !== undefined && { total }),
        ...(text !== undefined && { message: text }),
      });
    },
  };
}
