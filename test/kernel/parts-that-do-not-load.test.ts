import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineTool } from "@keyhole/kernel";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPolicy } from "../support/kernel.ts";
import { hostOpening, packed } from "../support/module-host.ts";
import { root } from "../support/sources.ts";

type Kernels = Pick<typeof import("@keyhole/kernel"), "createKernel" | "memorySink">;

let folder: string;
let kernels: Kernels;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-"));
  await build({
    stdin: { contents: 'export { createKernel, memorySink } from "@keyhole/kernel";', resolveDir: root },
    bundle: true,
    splitting: true,
    format: "esm",
    outdir: folder,
    conditions: ["keyhole-source"],
  });
  // As after an incomplete upload of a bundle, or without a network.
  for (const part of ["The kernel failed; the fault", "The checkpoint of the log contradicts"])
    await removeChunkWith(part);
  kernels = (await import(/* @vite-ignore */ pathToFileURL(join(folder, "stdin.js")).href)) as Kernels;
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function removeChunkWith(text: string): Promise<void> {
  const chunks = (await readdir(folder)).filter((name) => name !== "stdin.js");
  const found = [];
  for (const name of chunks) if ((await readFile(join(folder, name), "utf8")).includes(text)) found.push(name);
  expect(found).toHaveLength(1);
  await rm(join(folder, found[0] ?? ""));
}

describe("a kernel whose later parts do not load", () => {
  it("refuses with the code that was decided, on record, and runs nothing", async () => {
    const { createKernel } = kernels;
    const rules = [{ id: "no", effect: "deny", when: { caller: ["eve"] }, reason: "No." }];
    const kernel = await createKernel({ policy: { ...openPolicy, rules } });
    const ran: unknown[] = [];
    const input = { type: "object", properties: { message: { type: "string" } } };
    const manifest = { name: "echo", version: "1.0.0", description: "Echoes.", effects: [], capabilities: [] };
    const definition = { ...manifest, tier: 1, determinism: "pure", input, output: { kind: "json" } } as const;
    const tool = { definition, code: { execute: (each: unknown) => ran.push(each) } };
    expect(kernel.registerTrusted(tool)).toMatchObject({ ok: true });
    const codes = [];
    for (const [tool, given, caller] of [
      ["echo", {}, "eve"],
      ["echo", { message: 1 }, "ada"],
      ["ecko", {}, "ada"],
    ] as const) {
      const result = await kernel.call(tool, given, { caller });
      expect(result).toMatchObject({
        ok: false,
        error: { message: "The call failed, and the text of its error did not load.", retryable: false },
      });
      codes.push(result.ok || result.error.code);
    }
    expect(codes).toEqual(["POLICY_DENIED", "INVALID_INPUT", "TOOL_NOT_FOUND"]);
    const events = await kernel.audit.read();
    const ends = events.filter(({ type }) => type === "tool.blocked").map(({ payload }) => payload);
    expect(ends).toMatchObject(codes.map((code) => ({ code })));
    expect(ran).toEqual([]);
  });

  it("repeats a call whose isolate was lost, and reports a last loss as one that may pass", async () => {
    const tool = packed(
      defineTool({
        name: "work",
        version: "1.0.0",
        description: "Works.",
        idempotent: true,
        determinism: "external",
        input: { type: "object" },
        output: { kind: "json" },
        execute: () => ({}),
      }),
    );
    let losses = 1;
    const host = hostOpening("losing", async () => ({
      alive: true,
      call: async () =>
        losses-- > 0
          ? { kind: "lost", reason: "it ended" }
          : { kind: "returned", output: { form: "json", text: "{}" } },
      terminate: () => {},
    }));
    const kernel = await kernels.createKernel({ policy: openPolicy, host });
    expect(kernel.register(tool)).toMatchObject({ ok: true });
    expect(await kernel.call("work", {})).toMatchObject({ ok: true });
    losses = Infinity;
    expect(await kernel.call("work", {})).toMatchObject({ error: { code: "ISOLATE_LOST", retryable: true } });
    expect((await kernel.audit.read()).filter(({ type }) => type === "tool.retried").length).toBeGreaterThan(1);
  });

  it("does not open on a log that it cannot read", async () => {
    const { createKernel, memorySink } = kernels;
    const sink = memorySink();
    await (await createKernel({ policy: openPolicy, sink })).call("echo", {});
    await expect(createKernel({ policy: openPolicy, sink })).rejects.toThrow("Cannot find module");
  });
});
