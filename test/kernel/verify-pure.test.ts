import { createKernel, type Kernel, type KernelOptions } from "@keyhole/kernel";
import { verifyAudit } from "@keyhole/kernel/audit";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { openPolicy, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";

type Sources = { now: () => number; random: () => number; kv: { get(key: string): Promise<unknown> } };

let count = 0;
const tools = {
  honest: toolOf(({ n = 1 }: { n?: number }) => n * 2, { name: "honest" }),
  late: toolOf((_: never, { now }: Sources) => now(), { name: "late" }),
  lucky: toolOf((_: never, { random }: Sources) => random(), { name: "lucky" }),
  remembering: toolOf(() => count++, { name: "remembering" }),
  partly: toolOf(({ n }: { n: number }) => (n === 2 ? count++ : n), { name: "partly" }),
  asking: toolOf((_: never, { kv }: Sources) => kv.get("x").catch(() => 1), { name: "asking" }),
  hanging: toolOf(() => new Promise(() => {}), { name: "hanging", bounds: { timeoutMs: 500 } }),
  strict: toolOf(() => 1, {
    name: "strict",
    input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
  }),
  seeded: toolOf(() => 1, { name: "seeded", determinism: "seeded" }),
};

async function open(
  options: KernelOptions = {},
): Promise<{ kernel: Kernel; clock: FakeClock; host: ReturnType<typeof moduleHost> }> {
  const clock = new FakeClock();
  const host = moduleHost(...Object.values(tools));
  const kernel = await createKernel({ host, clock, policy: openPolicy, ...options });
  for (const tool of Object.values(tools)) expect(kernel.register(packed(tool))).toMatchObject({ ok: true });
  return { kernel, clock, host };
}

const answersOf = async (kernel: Kernel) =>
  (await kernel.audit.read())
    .filter(({ type }) => type.startsWith("purity."))
    .map(({ type, payload }) => ({ type, ...payload }));

describe("kernel.verifyPure", () => {
  it("believes a tool whose outcome depends on its input alone, and puts that on record", async () => {
    const { kernel, host } = await open();
    expect(await kernel.verifyPure("honest", [{ n: 1 }, { n: 2 }, {}], 4)).toEqual({ ok: true, runs: 12 });
    expect(host.opened).toHaveLength(12);
    expect(host.opened.every(({ terminated }) => terminated !== undefined)).toBe(true);
    const [{ hash }] = kernel.list({ text: "honest" }) as [ReturnType<Kernel["list"]>[number]];
    expect(await answersOf(kernel)).toEqual([
      { type: "purity.asked", tool: "honest@1.0.0", toolHash: hash, host: "modules", inputs: 3 },
      {
        type: "purity.answered",
        tool: "honest@1.0.0",
        toolHash: hash,
        found: "pure",
        inputHash: null,
        outcomeHashes: [],
      },
    ]);
    expect(await verifyAudit(await kernel.audit.read())).toMatchObject({ verdict: "unvouched" });
  });

  it.each<[keyof typeof tools, object]>([
    ["late", { kind: "varies", input: 0 }],
    ["lucky", { kind: "varies", input: 0 }],
    ["remembering", { kind: "varies", input: 0 }],
    ["partly", { kind: "varies", input: 1 }],
    ["asking", { kind: "asked", input: 0 }],
  ])("finds one that lies: %s", async (name, found) => {
    const { kernel } = await open();
    const check = await kernel.verifyPure(name, [{ n: 1 }, { n: 2 }]);
    expect(check).toMatchObject({ ok: false, ...found });
    const [, answered] = await answersOf(kernel);
    if (check.ok || !answered || !("found" in answered)) throw new Error("it was not found");
    expect(answered).toMatchObject({ found: check.kind, outcomeHashes: check.hashes });
    expect(answered.inputHash).toMatch(/^blake3:/);
  });

  it("takes one that lies out of the cache, with what others would be given", async () => {
    const { kernel } = await open();
    const cached = async (name: string) => (await kernel.call(name, { n: 1 })).meta.cached;
    for (const name of ["honest", "remembering"])
      expect([await cached(name), await cached(name)]).toEqual([false, true]);
    await kernel.verifyPure("remembering", [{}]);
    expect([await cached("remembering"), await cached("remembering")]).toEqual([false, false]);
    expect(await cached("honest")).toBe(true);
  });

  it("says nothing against one that does not end, and stops it", async () => {
    const { kernel, clock, host } = await open();
    const pending = kernel.verifyPure("hanging", [{}]);
    await clock.advance(500);
    expect(await pending).toMatchObject({ ok: false, kind: "unfinished", input: 0 });
    expect(host.opened).toEqual([{ tool: "hanging@1.0.0", terminated: "it did not end" }]);
    expect((await answersOf(kernel)).at(-1)).toMatchObject({ found: "unfinished" });
  });

  it.each<[string, string, readonly unknown[], object]>([
    ["a tool that is not here", "absent", [{}], { input: null }],
    ["one that does not say that it is pure", "seeded", [{}], { input: null }],
    ["an input that does not fit", "strict", [{ n: 1 }, { n: "1" }], { input: 1 }],
    ["an input that is no data", "strict", [{ n: 1 }, { n: () => 1 }], { input: 1 }],
  ])("refuses %s, and runs nothing", async (_, name, inputs, expected) => {
    const { kernel, host } = await open();
    expect(await kernel.verifyPure(name, inputs)).toMatchObject({ ok: false, kind: "refused", ...expected });
    expect(host.opened).toEqual([]);
    expect(await answersOf(kernel)).toEqual([]);
  });

  it("runs nothing in a mode in which the tool does not run, or where the log fails", async () => {
    const { kernel, host } = await open({ mode: "LOCKDOWN", policy: openPolicy });
    const restricted = toolOf(() => 1, { name: "restricted", tier: 2 });
    kernel.register(packed(restricted));
    expect(await kernel.verifyPure("restricted", [{}])).toMatchObject({ ok: false, kind: "refused" });
    expect(host.opened).toEqual([]);
    const broken = await open({ sink: { open: () => ({ last: undefined, cutBytes: 0, damage: null }), append: () => { throw new Error("full"); }, read: () => [] } }); // prettier-ignore
    await expect(broken.kernel.verifyPure("honest", [{}])).rejects.toThrow("The audit log cannot be written.");
    expect(broken.host.opened).toEqual([]);
  });

  it("hashes in the kernel's algorithm", async () => {
    const { kernel } = await open({ hash: sha256Hash });
    const check = await kernel.verifyPure("remembering", [{}]);
    expect(check.ok ? [] : check.hashes.map((hash) => hash.slice(0, 7))).toEqual(["sha256:", "sha256:"]);
    expect(JSON.stringify(await answersOf(kernel))).not.toContain("blake3:");
  });
});
