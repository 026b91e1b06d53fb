import { fileURLToPath } from "node:url";
import { createKernel, type Kernel } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { builtinTools, calculator, echo } from "@keyhole/worker-host/tools";
import { afterEach, describe, expect, it } from "vitest";
import { describeIsolateHost } from "../contract/isolate.ts";
import { leftoverHash } from "../contract/isolate-quiet.ts";
import { describeTenCalls, packages } from "../contract/ten-calls.ts";
import give from "keyhole:../contract/tools/give.ts";
import lend from "keyhole:../contract/tools/lend.ts";
import pour from "keyhole:../contract/tools/pour.ts";
import subject from "keyhole:../contract/tools/subject.ts";
import { openPolicy } from "../support/kernel.ts";
import { registered } from "../support/registered.ts";

describeIsolateHost("node", async () => nodeHost(), { preempts: true });
const trusted = [...[subject, give, lend, pour].map(({ hash }) => hash), leftoverHash];
describeIsolateHost("node, trusted", async () => nodeHost({ trusted }), { preempts: true, part: "engine" });
describeTenCalls("node", packages, async () => nodeHost());
describeTenCalls("node, trusted", packages, async () => nodeHost({ trusted: packages.map(({ hash }) => hash) }));

let kernel: Kernel | undefined;
afterEach(() => kernel?.close());

it("starts no thread for nobody", async () => {
  for (const host of [nodeHost(), nodeHost({ trusted })]) {
    const tool = registered(subject);
    await expect(host.open(tool, () => false)).rejects.toMatchObject({ code: "ISOLATE_LOST" });
    const isolate = await host.open(tool, () => true);
    expect(isolate.alive).toBe(true);
    await host.close();
  }
});

describe("what is not trusted", () => {
  it("cannot reach the process", async () => {
    kernel = await createKernel({ host: nodeHost(), policy: openPolicy });
    for (const pkg of builtinTools) kernel.register(pkg);
    expect(await kernel.call("calculator", { expression: "1+1" })).toMatchObject({ ok: true, data: { value: 2 } });
  });

  it("says what it used, the same each time", async () => {
    kernel = await createKernel({ host: nodeHost({ trusted: [calculator.hash] }), policy: openPolicy });
    kernel.register(echo);
    kernel.register(calculator);
    const used = async (name: string): Promise<number | undefined> =>
      (await kernel!.call(name, name === "echo" ? { message: "a" } : { expression: "1+1" })).meta.fuelUsed;
    expect(await used("echo")).toBeGreaterThan(1_000);
    expect(await used("echo")).toBe(await used("echo"));
    // A thread does not count.
    expect(await used("calculator")).toBeUndefined();
  });

  it("is also what a trusted tool becomes when a call bounds its fuel", async () => {
    kernel = await createKernel({ host: nodeHost({ trusted: [calculator.hash] }), policy: openPolicy });
    kernel.register(calculator);
    const fuel = { bounds: { fuel: 1_000 } };
    expect(await kernel.call("calculator", { expression: "1+1" }, fuel)).toMatchObject({
      ok: false,
      error: {
        code: "OUT_OF_FUEL",
        message: "calculator@1.0.0 used up its fuel of 1000.",
        details: { bound: "fuel", limit: 1_000 },
      },
    });
  });
});

describe("an interpreter that is not there", () => {
  const notWasm = fileURLToPath(import.meta.url);

  it.each([
    ["no file", `${notWasm}.missing`, `There is no file ${notWasm}.missing that is readable`],
    ["no module", notWasm, "This is not a WebAssembly module"],
  ])("is named, with what to do: %s", async (_, quickJs, what) => {
    kernel = await createKernel({ host: nodeHost({ quickJs }), policy: openPolicy });
    kernel.register(echo);
    expect(await kernel.call("echo", { message: "a" })).toMatchObject({
      ok: false,
      error: {
        code: "UNSUPPORTED_HOST",
        message: expect.stringContaining(what),
        operatorHint: expect.stringContaining("quickjs-wasi"),
      },
    });
  });
});
