import { type CallOptions, createKernel, type KernelOptions } from "@keyhole/kernel";
import { type ComposedKernelOptions, composeKernel } from "@keyhole/kernel/compose";
import { connectKernel, exposeKernel } from "@keyhole/worker-host/browser";
import { callSuspender } from "@keyhole/kernel/suspend";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blake3Hash } from "../../packages/kernel/src/hash/blake3-hash.ts";
import { echo, expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";

const callOptions = [
  "version caller sessionId correlationId traceparent grants bounds idempotencyKey cache raw references waitMs signal approver",
  "output body onEvent onLog onProgress",
].flatMap((names) => names.split(" "));
const kernelOptions = [
  "host reuse policy brokers sink verifyEarlier content approver clock mode modeTriggers resources cache secrets suspender signer hash",
  "normalizers",
].flatMap((names) => names.split(" "));

/** A name with one letter lost, doubled, exchanged or in another case. */
const misspelt = (names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...names), fc.nat(), fc.constantFrom("lose", "double", "swap", "case"))
    .map(([name, nat, fault]) => {
      const at = nat % name.length;
      const [before, letter, after] = [name.slice(0, at), name[at]!, name.slice(at + 1)];
      if (fault === "lose") return before + after;
      if (fault === "double") return before + letter + letter + after;
      if (fault === "swap") return before + after.slice(0, 1) + letter + after.slice(1);
      return before + (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()) + after;
    })
    .filter((name) => !names.includes(name));

describe("an option of a call that no kernel knows", () => {
  it.each([
    [{ grant: [] }, "grants"],
    [{ Grants: [] }, "grants"],
    [{ boundz: { networkRequests: 0 } }, "bounds"],
    [{ sessionID: "s" }, "sessionId"],
    [{ grant: undefined }, "grants"],
  ])("%j runs no tool, and the hint names `%s`", async (options, meant) => {
    let runs = 0;
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => runs++));
    const result = await kernel.call("subject", {}, options as CallOptions);
    const refusal = { code: "INVALID_INPUT", hint: `Did you mean \`${meant}\`?` };
    expect(result).toMatchObject({ ok: false, error: refusal });
    const preview = await kernel.preview("subject", {}, options as CallOptions);
    expect(preview).toMatchObject({ decision: "deny", error: refusal });
    expect(runs).toBe(0);
    await expectSoundLog(kernel);
  });

  it("runs no tool, however a known one was misspelt", async () => {
    let runs = 0;
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => runs++));
    await fc.assert(
      fc.asyncProperty(
        misspelt(callOptions),
        fc.constantFrom<unknown>([], {}, "a", 1, undefined),
        async (name, value) => {
          const result = await kernel.call("subject", {}, { [name]: value });
          expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
        },
      ),
      { numRuns: sized(50, 1_000) },
    );
    expect(runs).toBe(0);
  });

  it("is refused with the known names where none is near", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    const result = await kernel.call("echo", { message: "m" }, { limit: 1 } as CallOptions);
    expect(result).toMatchObject({ error: { hint: expect.stringContaining("`grants`") as string } });
  });

  it("is refused by a call that goes on, too", async () => {
    const key = new Uint8Array(32);
    const { kernel } = await openKernel({ suspender: callSuspender({ key }) });
    const result = await kernel.resume(new Uint8Array(1), { grants: [] } as never);
    expect(result).toMatchObject({ error: { code: "INVALID_INPUT", message: expect.stringContaining("`grants`") as string } }); // prettier-ignore
  });
});

/** Objects that TypeScript takes for options, and a copy of whose members is less. */
const hiding = (name: string, value: unknown): [string, object][] => [
  [
    "a class with a getter",
    new (class {
      get [name](): unknown {
        return value;
      }
    })(),
  ],
  ["a prototype", Object.create({ [name]: value }) as object],
  ["a member that no loop finds", Object.defineProperty({}, name, { value })],
  ["a symbol", { [Symbol(name)]: value }],
  ["a Map", new Map([[name, value]])],
  ["a list", []],
  ["a Date", new Date(0)],
];

describe("options in an object that hides members", () => {
  it.each(hiding("grants", []))("run no tool, near or over a port: %s", async (_, options) => {
    let runs = 0;
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => runs++));
    const { port1, port2 } = new MessageChannel();
    exposeKernel(kernel, port1);
    const remote = connectKernel(port2);
    const refusal = { error: { code: "INVALID_INPUT", message: expect.stringContaining("plain object") as string } };
    for (const each of [kernel, remote]) {
      expect(await each.call("subject", {}, options)).toMatchObject(refusal);
      expect(await each.preview("subject", {}, options)).toMatchObject({ decision: "deny", ...refusal });
      expect(await each.health("subject", options)).toMatchObject({
        state: "unchecked",
        reason: refusal.error.message,
      });
    }
    expect(await kernel.resume(new Uint8Array(1), options)).toMatchObject({ ok: false });
    await remote.close();
    for (const port of [port1, port2]) port.close();
    expect(runs).toBe(0);
  });

  it("are refused of a health check by an unknown name, and taken as those of a call", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    expect(await kernel.health("echo", { caler: "ada" } as never)).toMatchObject({ state: "unchecked" });
    const output = new WritableStream<Uint8Array>();
    const health = await kernel.health("echo", { caller: "ada", output, grants: [] } as never);
    expect(health).not.toMatchObject({ state: "unchecked" });
    expect(output.locked).toBe(false);
  });
});

describe("an option of a kernel that is none", () => {
  it.each(hiding("mode", "LOCKDOWN"))("opens none where it is in %s", async (_, options) => {
    await expect(createKernel(options)).rejects.toThrow("plain object");
    await expect(composeKernel(options as ComposedKernelOptions)).rejects.toThrow("plain object");
  });

  it.each([
    [{ polcy: { version: "1", posture: "strict" } }, "policy"],
    [{ approvers: () => undefined }, "approver"],
    [{ modetriggers: [] }, "modeTriggers"],
  ])("%j opens none, and the message names `%s`", async (options, meant) => {
    await expect(createKernel(options as KernelOptions)).rejects.toThrow(
      new RegExp(`The kernel has no option .*Known are .*\\b${meant}\\b`),
    );
  });

  it("opens none, however a known one was misspelt", () =>
    fc.assert(
      fc.asyncProperty(misspelt(kernelOptions), async (name) => {
        await expect(createKernel({ [name]: undefined })).rejects.toThrow(TypeError);
      }),
      { numRuns: sized(50, 500) },
    ));

  it.each(["approver", "cache", "content", "modeTriggers", "resources", "suspender"])(
    "%s is none of a kernel of parts: an extension has its place",
    async (name) => {
      const options = { hash: blake3Hash, [name]: undefined } as ComposedKernelOptions;
      await expect(composeKernel(options)).rejects.toThrow(TypeError);
    },
  );
});
