import {
  type Approver,
  blake3Hash,
  type Kernel,
  packageHash,
  type PolicyDocument,
  type ToolPackage,
} from "@keyhole/kernel";
import {
  approvals,
  checkPolicy,
  type ComposedKernelOptions,
  composeKernel,
  type Extension,
  idempotency,
  nested,
  operations,
  pureCache,
  retries,
} from "@keyhole/kernel/compose";
import { toolCall } from "@keyhole/kernel/families";
import { inlineHost } from "@keyhole/kernel/inline";
import { explain } from "@keyhole/kernel/schema/explain";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { callSuspender } from "@keyhole/kernel/suspend";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { echo, openPolicy, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";

const asking: PolicyDocument = {
  ...openPolicy,
  rules: [{ id: "ask", effect: "ask", when: { tool: ["echo"] }, reason: "May it?" }],
};
const yes: Approver = async () => ({ answer: "allow", scope: "once", approver: "ada" });
const input = { message: "hello" };

async function composed(
  extensions: readonly Extension[],
  policy: unknown = openPolicy,
  parts: Pick<ComposedKernelOptions, "operations" | "schemaParts"> = {},
): Promise<Kernel> {
  const kernel = await composeKernel({
    policy,
    hash: sha256Hash,
    clock: new FakeClock(),
    inline: inlineHost(),
    checkPolicy,
    extensions,
    ...parts,
  });
  expect(kernel.registerTrusted(echo)).toMatchObject({ ok: true });
  return kernel;
}

describe("a kernel without extensions", () => {
  it("runs a plain call, and hashes with the one hash that it was given", async () => {
    const kernel = await composed([]);
    const result = await kernel.call("echo", input);
    expect(result).toMatchObject({ ok: true, data: input, hash: expect.stringMatching(/^sha256:/) });
  });

  it("takes a package whose digest is in its own algorithm, or in one more that it was given", async () => {
    const inBlake3 = packed(echo);
    const { manifest, code } = inBlake3;
    const inSha256 = { manifest, code, hash: packageHash(manifest, code, sha256Hash) };
    const refusal = {
      ok: false,
      error: { code: "PACKAGE_HASH_MISMATCH", hint: expect.stringContaining("packageHashes") },
    };
    const register = async (pkg: unknown, more: Partial<ComposedKernelOptions> = {}): Promise<unknown> => {
      const kernel = await composeKernel({ host: moduleHost(), hash: sha256Hash, ...more });
      return kernel.register(pkg as ToolPackage);
    };
    expect(await register(inBlake3)).toMatchObject(refusal);
    expect(await register({ ...inBlake3, hash: `sha512:${"0".repeat(64)}` })).toMatchObject({ ok: false });
    expect(await register(inSha256)).toMatchObject({ ok: true, value: { hash: inSha256.hash } });
    expect(await register(inBlake3, { packageHashes: [blake3Hash] })).toMatchObject({
      ok: true,
      value: { hash: inSha256.hash },
    });
  });

  it("refuses each question of a missing extension with its own code and a hint, and runs nothing", async () => {
    const kernel = await composed([], asking);
    const what = expect.stringMatching(/\w+\(/) as string;
    const refused = (code: string) => ({ ok: false, error: { code, operatorHint: what } });
    expect(await kernel.call("echo", input)).toMatchObject(refused("APPROVAL_UNAVAILABLE"));
    expect(await kernel.call("echo", input, { approver: yes })).toMatchObject(refused("APPROVAL_UNAVAILABLE"));
    expect(await kernel.call("echo", input, { idempotencyKey: "k" })).toMatchObject(refused("IDEMPOTENCY_UNAVAILABLE"));
    expect(await kernel.resume(new Uint8Array(8))).toMatchObject(refused("SUSPENSION_UNAVAILABLE"));
    expect(await kernel.suspend("any")).toMatchObject({ error: { code: "SUSPENSION_UNAVAILABLE", hint: what } });
    const types = (await kernel.audit.read()).map(({ type }) => type);
    expect(types).not.toContain("tool.started");
  });

  it("has no approvals to list or to revoke, and refuses a policy that keeps values", async () => {
    const kernel = await composed([]);
    expect([kernel.approvals.list(), await kernel.approvals.revoke("any", "no")]).toEqual([[], false]);
    const keeping = { ...openPolicy, tools: { echo: { keep: { input: ["/message"] } } } };
    expect(await kernel.setPolicy(keeping)).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
    await expect(composed([], keeping)).rejects.toThrow("INVALID_POLICY");
  });

  it("runs no tool object where it has no place for one", async () => {
    const kernel = await composeKernel({ policy: openPolicy, hash: sha256Hash, checkPolicy });
    kernel.registerTrusted(echo);
    expect(await kernel.call("echo", input)).toMatchObject({
      ok: false,
      error: { code: "UNSUPPORTED_HOST", operatorHint: expect.stringContaining("inlineHost()") },
    });
  });

  it("rejects operations that it does not have, and names the option", async () => {
    const kernel = await composed([]);
    for (const asked of [kernel.health("echo"), kernel.verifyPure("echo", []), kernel.preview("echo", input)])
      await expect(asked).rejects.toThrow("give composeKernel `operations`");
  });

  it("refuses what a schema refuses without a place, and with `explain` names the place", async () => {
    const bounded = { bounds: { timeoutMs: 0 } };
    const refusals = async (schemaParts: ComposedKernelOptions["schemaParts"] = {}): Promise<readonly unknown[]> => {
      const kernel = await composed([], openPolicy, { schemaParts });
      const { definition, ...tool } = echo;
      const registered = kernel.registerTrusted({ ...tool, definition: { ...definition, tier: 9 as never } });
      const called = await kernel.call("echo", { message: 1 });
      const granted = await kernel.call("echo", input, { grants: [{ kind: "net.read" } as never] });
      const wished = await kernel.call("echo", input, bounded);
      return [registered, called, granted, wished].map((each) => (each as { readonly error?: unknown }).error);
    };
    const wish = { code: "INVALID_INPUT", message: "`bounds.timeoutMs` is not an integer from 1 to 900000." };
    const bring = expect.stringContaining("explain") as string;
    expect(await refusals()).toMatchObject([
      { code: "INVALID_MANIFEST", path: "", hint: bring },
      { code: "INVALID_INPUT", message: expect.not.stringContaining("/message"), operatorHint: bring },
      { code: "INVALID_INPUT" },
      wish,
    ]);
    expect(await refusals({ explain })).toMatchObject([
      { code: "INVALID_MANIFEST", path: "/tier", hint: expect.not.stringContaining("explain") },
      { code: "INVALID_INPUT", message: "/message: expected a string, got the number 1.", operatorHint: "" },
      { code: "INVALID_INPUT" },
      wish,
    ]);
  });

  it("gives a tool no calls of its own", async () => {
    const capability = { kind: "tool.call", tools: ["*"] };
    const policy = { ...openPolicy, grants: [{ tool: "*", capability }] };
    const calling = toolOf(
      (_: unknown, { tools }: { readonly tools: { call(name: string, input: unknown): Promise<unknown> } }) =>
        tools.call("echo", input),
      { name: "calling", capabilities: [capability], determinism: "external" },
    );
    await expect(composed([], policy)).rejects.toThrow('knows no kind "tool.call"');
    for (const [parts, outcome] of [
      [{ families: [toolCall] }, { ok: false, error: { code: "CAPABILITY_DENIED" } }],
      [{ extensions: [nested()] }, { ok: true, data: { data: input } }],
    ] as const) {
      const kernel = await composeKernel({
        policy,
        hash: sha256Hash,
        clock: new FakeClock(),
        inline: inlineHost(),
        checkPolicy,
        ...parts,
      });
      kernel.registerTrusted(echo);
      kernel.registerTrusted(calling);
      expect(await kernel.call("calling", {})).toMatchObject(outcome);
    }
  });
});

describe("extensions", () => {
  it("serve the kernel's operations", async () => {
    const kernel = await composed([], openPolicy, { operations });
    expect(await kernel.health("echo")).toEqual({ state: "healthy" });
    expect(await kernel.verifyPure("echo", [input])).toEqual({ ok: true, runs: 3 });
    expect(await kernel.preview("echo", input)).toMatchObject({ decision: "allow" });
  });

  it("answer their questions", async () => {
    const kernel = await composed([approvals(yes), idempotency(), pureCache(), retries()], asking);
    const first = await kernel.call("echo", input, { idempotencyKey: "k" });
    const again = await kernel.call("echo", input, { idempotencyKey: "k" });
    expect([first, again]).toMatchObject([
      { ok: true, proof: { reasonCode: "approved" } },
      { ok: true, meta: { cached: true } },
    ]);
  });

  it.each([
    ["a key", () => [idempotency(), idempotency()]],
    ["an approval", () => [approvals(yes), approvals(yes)]],
    ["calls of tools", () => [nested(), nested()]],
  ])("of which two answer one question start no kernel: %s", async (_, extensions) => {
    await expect(composed(extensions())).rejects.toThrow("expected one");
  });

  it("declare the state that has to outlive the kernel, each table under a name of its own", async () => {
    const all = [approvals(yes), idempotency(), callSuspender({ key: new Uint8Array(32) })];
    const names = all.flatMap(({ state = [] }) => state.map(({ name }) => name));
    expect(names).toEqual(["approvals.standing", "idempotency.keys", "suspension.used"]);
    const other: Extension = { name: "other", state: idempotency().state ?? [] };
    await expect(composed([idempotency(), other])).rejects.toThrow("idempotency.keys");
  });

  it("that suspend serve one kernel", async () => {
    const suspender = callSuspender({ key: new Uint8Array(32) });
    await composed([suspender]);
    await expect(composed([suspender])).rejects.toThrow("one kernel");
  });

  it("cannot answer with an ending that the kernel did not make", async () => {
    const outcome = { ok: true, output: { form: "json", content: "1", hash: "sha256:0", outputBytes: 1 } };
    const forged = { by: "cache", ending: { callId: "x", hasStarted: true, effects: [], outcome } };
    // It compiles through a computed name alone, and does not pass.
    for (const point of ["afterDecision", "afterAllow"]) {
      const kernel = await composed([{ name: "forging", [point]: () => forged }]);
      expect(await kernel.call("echo", input)).toMatchObject({ ok: false, error: { code: "INTERNAL" } });
    }
  });

  it("cannot answer a call with the result of another one", async () => {
    let checked: unknown;
    const mixing: Extension = {
      name: "mixing",
      aroundRun: async (started, attempt) => {
        const own = await attempt(started);
        checked ??= own;
        return checked as typeof own;
      },
    };
    const kernel = await composed([mixing]);
    expect(await kernel.call("echo", { message: "one" })).toMatchObject({ ok: true });
    expect(await kernel.call("echo", { message: "two" })).toMatchObject({ ok: false, error: { code: "INTERNAL" } });
  });

  it("that throw end their call, on record, and give back what it held", async () => {
    const released: string[] = [];
    const failing: Extension = {
      name: "failing",
      onArrival: (call) => void call.defer(({ kind }) => void released.push(kind)),
      afterAllow: () => {
        throw new Error("broken");
      },
    };
    const kernel = await composed([failing]);
    const result = await kernel.call("echo", input);
    expect(result).toMatchObject({ ok: false, error: { code: "INTERNAL", details: { error: "Error: broken" } } });
    expect(released).toEqual(["failed"]);
    expect((await kernel.audit.read()).at(-1)).toMatchObject({ type: "tool.blocked", callId: result.callId });
  });

  it("whose release throws leave a warning, and the others are released", async () => {
    const released: string[] = [];
    const careless: Extension = {
      name: "careless",
      onArrival(call) {
        call.defer(() => void released.push("first"));
        call.defer(() => {
          throw new Error("broken");
        });
      },
    };
    const result = await (await composed([careless])).call("echo", input);
    expect(result).toMatchObject({ ok: true, meta: { warnings: [expect.stringContaining("broken")] } });
    expect(released).toEqual(["first"]);
  });
});
