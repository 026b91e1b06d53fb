import { interpreterHost, type InterpreterHost, type ResumeRefusal } from "@keyhole/worker-host/wasm/interpreter";
import { beforeAll, describe, expect, it } from "vitest";
import { seal, sealingKey, unseal } from "../../packages/worker-host/src/wasm/interpreter/sealed.ts";
import { testEngine } from "../wasm/engine.ts";
import { callOf, toolOfModule } from "../wasm/run-body.ts";
import { testKey, waitingPort, waitingTool } from "../wasm/waiting-call.ts";

const otherKey = testKey.map((byte) => byte ^ 1);

async function hostWith(key = testKey): Promise<InterpreterHost> {
  return interpreterHost({ engine: await testEngine(), suspension: { key } });
}

let bytes: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  const isolate = await (await hostWith()).open(waitingTool);
  const port = waitingPort(0);
  void isolate.call(callOf(), port);
  await port.untilAsked(2);
  const suspension = await isolate.suspend();
  if (!suspension.ok) throw new Error(suspension.message);
  bytes = suspension.bytes;
});

/** How a host that nobody has resumed on takes these bytes; it asks for nothing when it refuses. */
async function taken(snapshot: Uint8Array, tool = waitingTool, key = testKey): Promise<ResumeRefusal["code"] | "OK"> {
  const port = waitingPort();
  const resumed = await (await hostWith(key)).resume(tool, snapshot, port);
  if (resumed.ok) return "OK";
  expect([port.asked, port.logs]).toEqual([[], []]);
  return resumed.code;
}

/** What whoever has the key writes: the head changed, everything else as it was. */
async function forged(change: (head: Record<string, unknown>) => void): Promise<Uint8Array<ArrayBuffer>> {
  const key = await sealingKey(testKey);
  const plain = (await unseal(key, bytes))!;
  const length = new DataView(plain.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(plain.subarray(4, 4 + length))) as Record<string, unknown>;
  change(head);
  const text = new TextEncoder().encode(JSON.stringify(head));
  const out = new Uint8Array(4 + text.length + plain.length - 4 - length);
  new DataView(out.buffer).setUint32(0, text.length, true);
  out.set(text, 4);
  out.set(plain.subarray(4 + length), 4 + text.length);
  return seal(key, out);
}

describe("the bytes of a suspended call that come back", () => {
  it("are taken as they were", async () => expect(await taken(bytes)).toBe("OK"));

  it("are refused with any byte changed", async () => {
    const places = [0, 15, 16, 27, 28, 29, bytes.length >> 1, bytes.length - 17, bytes.length - 16, bytes.length - 1];
    for (const place of places) {
      const changed = bytes.slice();
      changed[place]! ^= 1;
      expect(await taken(changed), String(place)).toBe("CHANGED");
    }
  });

  it("are refused when cut, extended or none", async () => {
    for (const length of [0, 1, 16, 28, 43, 44, bytes.length - 1])
      expect(await taken(bytes.subarray(0, length)), String(length)).toBe("CHANGED");
    const longer = new Uint8Array(bytes.length + 1);
    longer.set(bytes);
    expect(await taken(longer)).toBe("CHANGED");
    expect(await taken(crypto.getRandomValues(new Uint8Array(10_000)))).toBe("CHANGED");
  });

  it("are refused when they were sealed with another key", async () => {
    expect(await taken(bytes, waitingTool, otherKey)).toBe("CHANGED");
  });

  it("are refused for another package", async () => {
    const other = toolOfModule("export default {}");
    expect(await taken(bytes, { ...other, hash: `blake3:${"0".repeat(64)}` })).toBe("OTHER_TOOL");
  });

  it("are refused when another version of the kernel wrote them, before anything else of them is read", async () => {
    const otherVersion = await forged((head) => {
      head["version"] = `blake3:${"0".repeat(64)}`;
      head["image"] = null;
    });
    expect(await taken(otherVersion)).toBe("OTHER_VERSION");
    expect(await taken(await forged((head) => delete head["version"]))).toBe("OTHER_VERSION");
  });

  it("are resumed once, also at the same time and by hosts that share what they claim", async () => {
    const claimed = new Set<string>();
    const claim = (id: string): boolean => !claimed.has(id) && claimed.add(id).size > 0;
    const engine = await testEngine();
    const hosts = [1, 2].map(() => interpreterHost({ engine, suspension: { key: testKey, claim } }));
    const all = await Promise.all(
      [...hosts, ...hosts].map((host) => host.resume(waitingTool, bytes.slice(), waitingPort())),
    );
    expect(all.map((each) => (each.ok ? "OK" : each.code)).toSorted()).toEqual([
      "ALREADY_RESUMED",
      "ALREADY_RESUMED",
      "ALREADY_RESUMED",
      "OK",
    ]);
  });

  it("show nothing of what the tool knows", () => {
    const text = new TextDecoder("latin1").decode(bytes);
    for (const word of ["begun", "context.files", "call-", "session"]) expect(text).not.toContain(word);
  });
});

describe("a call that cannot be suspended", () => {
  it("is told so, and goes on", async () => {
    const isolate = await (await hostWith()).open(waitingTool);
    expect(await isolate.suspend()).toMatchObject({ ok: false, code: "NOT_WAITING" });
    const ports = [waitingPort(0), waitingPort(0)];
    for (const port of ports) void isolate.call(callOf(), port);
    await Promise.all(ports.map((port) => port.untilAsked(2)));
    expect(await isolate.suspend()).toMatchObject({ ok: false, code: "NOT_WAITING" });
    expect(isolate.alive).toBe(true);
  });

  it("has no key", async () => {
    const host = interpreterHost({ engine: await testEngine() });
    const isolate = await host.open(waitingTool);
    expect(await isolate.suspend()).toMatchObject({ ok: false, code: "NOT_CONFIGURED" });
    expect(await host.resume(waitingTool, bytes, waitingPort())).toMatchObject({ ok: false, code: "NOT_CONFIGURED" });
  });

  it("has what is left of its fuel, and not one more", async () => {
    const whole = waitingPort();
    await (await (await hostWith()).open(waitingTool)).call(callOf(), whole);
    const needed = whole.usage().fuelUsed!;
    const endOf = async (fuel: number): Promise<string> => {
      const isolate = await (await hostWith()).open(waitingTool);
      const port = waitingPort(0);
      void isolate.call(callOf({ fuel }), port);
      await port.untilAsked(2);
      const suspension = await isolate.suspend();
      if (!suspension.ok) throw new Error(suspension.message);
      const resumed = await (await hostWith()).resume(waitingTool, suspension.bytes, waitingPort());
      if (!resumed.ok) throw new Error(resumed.message);
      return (await resumed.outcome).kind;
    };
    expect([await endOf(needed), await endOf(needed - 1)]).toEqual(["returned", "out-of-fuel"]);
  });
});
