/** Checked by the compiler alone: a line that is wrong does not compile. */
import type { IsolateCall } from "@keyhole/kernel";
import type { Packet } from "../../packages/edge/src/isolate/packet.ts";
import { remote } from "../../packages/edge/src/isolate/remote.ts";

interface Far {
  ofPacket(id: string, message: Packet, target: object): Promise<unknown>;
  ofMessage(id: string, message: IsolateCall): Promise<unknown>;
  ofAnything(message: unknown): Promise<unknown>;
}

declare const stub: object;
remote<Far>(stub, ["ofPacket"]);
// @ts-expect-error: its texts would cross as UTF-16
remote<Far>(stub, ["ofMessage"]);
// @ts-expect-error: a message can be in it
remote<Far>(stub, ["ofAnything"]);
