import type { OutgoingMessage } from "@keyhole/bus";
import type { CallResult, JsonValue, Kernel } from "@keyhole/kernel";
import { heldBytes, HeldInput } from "@keyhole/kernel/context";
import fc from "fast-check";
import { expect, it } from "vitest";
import { CallServer } from "../../packages/bus/src/serve/call-server.ts";
import type { Offer, Offers } from "../../packages/bus/src/serve/offers.ts";
import { Subjects } from "../../packages/bus/src/wire/subjects.ts";
import type { McpCaller } from "../../packages/mcp/src/server/caller.ts";
import { WaitingCall, WaitingCalls } from "../../packages/mcp/src/server/waiting-calls.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";

// A caller makes calls that end at once, with large arguments or a large result. A store that keeps something of a call keeps them as well.

const large = "x".repeat(8_000_000);
const mallory: McpCaller = { caller: "mallory" };
const allowed = async () => ({ decision: "allow" }) as const;
const manifest = {
  name: "size",
  version: "1.0.0",
  description: "",
  input: {},
  output: { kind: "text" },
  capabilities: [],
};

/** Whether the store still has the first of so many calls. */
type Store = (calls: number) => Promise<boolean>;

const onBus: Store = async (calls) => {
  const sent: OutgoingMessage[] = [];
  // Four of these alone fit.
  const data = new Uint8Array(6_000_000);
  const offer = { hash: "0", manifest } as unknown as Offer;
  const clock = new FakeClock();
  const call = async () => ({ ok: true, data, effects: [], callId: "1" });
  const server = new CallServer({
    kernel: { call, preview: allowed } as unknown as Kernel,
    port: {
      bodyBytes: 8_388_608,
      isConnected: true,
      publish: (_: string, message: OutgoingMessage) => sent.push(message),
    } as never,
    subjects: new Subjects(),
    callers: () => ({ caller: mallory, credential: undefined }),
    offers: { all: new Map([["size", offer]]) } as unknown as Offers,
    clock,
    onError: never,
  });
  const body = new TextEncoder().encode(JSON.stringify({ large: large.slice(0, 1_000_000) }));
  const ask = async (at: number): Promise<void> => {
    const headers = new Map([
      ["keyhole-kind", "request"],
      ["keyhole-correlation", String(at).padStart(32, "0")],
      ["keyhole-deadline", String(clock.now() + 600_000)],
      ["keyhole-definition", "0"],
    ]);
    server.take(
      "size",
      { subject: "keyhole.tool.size.request", reply: "_INBOX.1", headers, body, noResponders: false },
      undefined,
    );
    await settle();
  };
  for (let at = 0; at < calls; at++) await ask(at);
  expect(sent.splice(0)).toHaveLength(calls);
  await ask(0);
  return sent[0]?.headers.get("keyhole-outcome") === "ok";
};

const waitingWith =
  (input: JsonValue, data: JsonValue): Store =>
  async (calls) => {
    const all = new WaitingCalls(new FakeClock());
    const run = async () => ({ ok: true, data }) as CallResult;
    const call = new WaitingCall(mallory, new AbortController(), run, never, { input }, undefined);
    for (let at = 0; at < calls; at++) {
      all.keep(`${at}`, call);
      await settle();
    }
    return all.find("0", mallory) !== undefined;
  };

function never(): never {
  throw new Error("Nobody is asked.");
}

it.each([
  ["results of a bus", onBus, 4],
  ["arguments of calls that waited for a person", waitingWith(large, null), 6],
  ["results of calls that waited for a person", waitingWith(null, large), 6],
])("are bounded in bytes, and not in number alone: %s", async (_, store, calls) => {
  expect(await store(2)).toBe(true);
  expect(await store(calls)).toBe(false);
});

it("arguments that are held are the same again, and their text is all that is held", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const held = new HeldInput(value);
      expect(JSON.stringify(held.read())).toBe(text);
      expect(held.bytes).toBe(new TextEncoder().encode(text).length);
    }),
  );
});

it("a value counts at least as many bytes as its text, and each value within it counts", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(heldBytes(value as JsonValue)).toBeGreaterThanOrEqual(text.replace(/\\u.{4}|\\./g, "x").length);
    }),
  );
  expect(heldBytes(Array.from({ length: 100 }, () => []))).toBeGreaterThan(101 * 63);
});
