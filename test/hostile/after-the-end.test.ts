import type { CapabilityReply, CapabilityRequest } from "@keyhole/kernel";
import { openUplink, type Uplink } from "@keyhole/worker-host/guest";
import fc from "fast-check";
import { expect, it } from "vitest";

// What comes back to a tool when its call has ended would wake code that belongs to no call: nothing counts its time, and no deadline ends it.

const request: CapabilityRequest = { kind: "fs.read", operation: "read", arguments: { path: "a" } };
const answer: CapabilityReply = { ok: true, value: null };

/** What a host can send to a call, by name. */
const arrivals = {
  reply: (uplink) => uplink.reply(0, answer),
  refusal: (uplink) => uplink.reply(0, { ok: false, error: { code: "CANCELLED", message: "", hint: "" } }),
  bytes: (uplink) => uplink.pulled(new Uint8Array(1)),
  "the end of the body": (uplink) => uplink.pulled(undefined),
  credit: (uplink) => uplink.pieces.taken(true),
  "no more credit": (uplink) => uplink.pieces.taken(false),
  cancellation: (uplink) => uplink.cancel(),
} satisfies Record<string, (uplink: Uplink) => void>;

it("nothing that a call waits for wakes its tool when the call has ended, in any order", () =>
  fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(Object.keys(arrivals) as (keyof typeof arrivals)[]), async (order) => {
      const uplink = openUplink("call", () => {});
      const { transport } = uplink;
      const woken: string[] = [];
      const wakes = (what: string) => (): void => void woken.push(what);
      void transport.request(request).then(wakes("request"));
      void transport.read?.().then(wakes("read"));
      transport.signal?.addEventListener("abort", wakes("signal"));
      for (let piece = 0; piece < 20; piece++) void transport.write?.(new Uint8Array(1)).then(wakes("write"));
      await Promise.resolve().then(() => {});
      woken.length = 0;
      uplink.close();
      for (const what of order) arrivals[what](uplink);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      expect(woken).toEqual([]);
    }),
    { numRuns: 100 },
  ));
