import type { IsolateHost } from "@keyhole/kernel";
import { browserHost, domFrameContainer } from "@keyhole/worker-host/browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canary } from "../browser/canary.ts";
import { callWith, evaluate, moduleOf, quietPort, toolText } from "../browser/open.ts";

const hits = async (): Promise<string[]> => (await fetch(`${canary}/hits/hardened`)).json() as Promise<string[]>;

describe("the hardened shell", () => {
  let host: IsolateHost;
  beforeAll(async () => {
    host = await browserHost();
  });
  afterAll(() => host.close());

  it("gives a module no more while it loads", async () => {
    const body = "return loaded";
    const before = `const loaded = await (async () => {
      const got = ["fetch", "postMessage", "setTimeout", "onmessage", "Worker"].filter((name) => name in globalThis);
      return got;
    })();`;
    expect(await evaluate(host, body, {}, before)).toEqual([]);
  });

  it("stays what it is when a module hoists its own names over the language's", async () => {
    const before = "function Object() { return { hijacked: true }; } function Promise() {} var Map = 1; class Error {}";
    expect(await evaluate(host, "return [typeof Map, input]", {}, before)).toEqual(["number", {}]);
  });

  it("let nothing reach the canary", async () => {
    expect(await hits()).toEqual([]);
  });

  it("keeps the host's own prototypes and globals clean", async () => {
    await evaluate(
      host,
      `for (const o of [Object.prototype, Array.prototype, Function.prototype]) o.polluted = "yes"; return { __proto__: null, ["__proto__"]: 1 }.x ?? null`,
    ).catch(() => {});
    expect([
      ({} as { polluted?: unknown }).polluted,
      ([] as { polluted?: unknown }).polluted,
      "pwned" in globalThis,
    ]).toEqual([undefined, undefined, false]);
  });

  it("answers after its tool replaced everything that it could", async () => {
    const isolate = await host.open(
      moduleOf(
        toolText(
          `for (const name of Object.getOwnPropertyNames(globalThis)) if (!["undefined", "globalThis", "Object", "JSON"].includes(name)) try { globalThis[name] = undefined; } catch {} return "done"`,
        ),
      ),
    );
    const outcome = await isolate.call(callWith(), quietPort);
    // It may have broken its own realm: whatever comes is an outcome, and the isolate can be replaced.
    expect(["returned", "threw", "unnormalizable", "lost"]).toContain(outcome.kind);
    isolate.terminate("the test is over");
    expect(await evaluate(host, "return 1")).toBe(1);
  });
});

/** A guest without a shell: it speaks the protocol itself, and then stops to. */
const rawGuest = (then: string): string => `
  onmessage = ({ ports: [port] }) => {
    postMessage("started");
    port.postMessage({ type: "ready", imports: true, wasm: true });
    port.onmessage = ({ data }) => {
      if (data.type === "load") port.postMessage({ type: "loaded" });
      if (data.type === "call") {
        const { callId } = data.call;
        // What an engine refuses to send at all (WebKit: a stream) is not sent; the guest says nonsense instead.
        try { ${then} } catch { port.postMessage("refused") }
      }
    };
  };`;

describe("a guest that is not our shell", () => {
  const outcomeOf = async (then: string) => {
    const host = await browserHost({ container: domFrameContainer({}, rawGuest(then)), warm: 0 });
    const isolate = await host.open(moduleOf("export default {}"));
    const logs: unknown[] = [];
    const outcome = await isolate.call(callWith(), { ...quietPort, log: (entry) => logs.push(entry) });
    const { alive } = isolate;
    await host.close();
    return { outcome, alive, logs };
  };

  it("is heard while it keeps to the protocol", async () => {
    const { outcome } = await outcomeOf(
      `port.postMessage({ type: "outcome", callId, outcome: { kind: "returned", output: { form: "json", text: "1" } } })`,
    );
    expect(outcome).toEqual({ kind: "returned", output: { form: "json", text: "1" } });
  });
});
