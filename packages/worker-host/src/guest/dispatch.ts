import { type CallRealm, runCall, thrownOutcome } from "@keyhole/kernel/guest";
import type { GuestMessage, HostMessage, PingMessage } from "../protocol/message.ts";
import { openUplink, type Uplink } from "./uplink.ts";

/**
 * The parts of a shell: its port, its hardened realm, and its platform's loader of modules from
 * text.
 */
export interface ShellParts {
  /**
   * Calls back with the next task of the platform, when no job is left. The shell then sends an
   * outcome, so work that a call leaves behind is still the call's, and its deadline ends it. Not a
   * promise: the tool can change those. Default: immediately, where the relay around the shell
   * waits.
   */
  readonly whenIdle?: (then: () => void) => void;
  readonly post: (message: GuestMessage, transfer?: ArrayBuffer[]) => void;
  readonly realm: CallRealm;
  readonly importText: (code: string) => Promise<{ readonly default?: unknown }>;
}

/** Answers the host's messages, for every shell that speaks over a port. */
export function dispatcher({
  post,
  realm,
  importText,
  whenIdle = (then) => then(),
}: ShellParts): (message: HostMessage | PingMessage) => void {
  const uplinks = new Map<string, Uplink>();
  let tool: unknown;

  const handlers = {
    async load({ code }) {
      try {
        if (typeof code !== "string") throw new TypeError("this shell runs JavaScript");
        tool = (await importText(code)).default;
        post({ type: "loaded" });
      } catch (thrown) {
        const { name, message } = thrownOutcome(thrown);
        post({ type: "load-failed", name, message });
      }
    },
    async call({ call }) {
      const { callId } = call;
      const uplink = openUplink(callId, post);
      uplinks.set(callId, uplink);
      const outcome = await runCall(tool, call, uplink.transport, realm);
      if (call.outputKind === "stream" && outcome.kind === "returned") await uplink.pieces.drained();
      uplink.close();
      uplinks.delete(callId);
      const output = outcome.kind === "returned" ? outcome.output : undefined;
      const transfer = output?.form === "binary" ? [output.bytes.buffer as ArrayBuffer] : [];
      whenIdle(() => post({ type: "outcome", callId, outcome } as GuestMessage, transfer));
    },
    cancel({ callId }) {
      uplinks.get(callId)?.cancel();
    },
    taken({ callId, more }) {
      uplinks.get(callId)?.pieces.taken(more);
    },
    pulled({ callId, bytes }) {
      uplinks.get(callId)?.pulled(bytes);
    },
    reply({ callId, request, reply }) {
      uplinks.get(callId)?.reply(request, reply);
    },
    ping() {
      post({ type: "pong" });
    },
  } satisfies {
    readonly [Type in (HostMessage | PingMessage)["type"]]: (
      message: Extract<HostMessage | PingMessage, { type: Type }>,
    ) => void | Promise<void>;
  };

  return (message) => void handlers[message.type](message as never);
}
