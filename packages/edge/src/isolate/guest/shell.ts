/**
 * The main module of every dynamic Worker: hardens the realm, then loads the tool beside it, then runs its calls. What it returns is only as
 * trustworthy as the tool, which shares its realm; the host checks all of it.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import type { IsolateCall } from "@keyhole/kernel";
import { runCall, thrownOutcome } from "@keyhole/kernel/guest";
import { hardenRealm } from "@keyhole/worker-host/guest";
import { type Packet, packed, unpacked } from "../packet.ts";
import { relayed } from "./relay.ts";
import { sealShell } from "./seal.ts";

const realm = hardenRealm(globalThis);

/** Left for the dynamic Worker to resolve, in which the tool is the only other module. */
const toolModule = "./tool.js";

let tool: unknown;

export default class Shell extends WorkerEntrypoint {
  async load(): Promise<object> {
    try {
      tool = ((await import(/* @vite-ignore */ toolModule)) as { readonly default?: unknown }).default;
      return { type: "loaded" };
    } catch (thrown) {
      const { name, message } = thrownOutcome(thrown);
      return { type: "load-failed", name, message };
    }
  }

  async call(packet: Packet, target: object): Promise<Packet> {
    const call = unpacked(packet) as IsolateCall;
    const outcome = await relayed(this.ctx, call.callId, target, async (uplink) => {
      const outcome = await runCall(tool, call, uplink.transport, realm);
      if (call.outputKind === "stream" && outcome.kind === "returned") await uplink.pieces.drained();
      return outcome;
    });
    return packed(outcome);
  }
}

sealShell(Shell);
