import { type CallOptions, createKernel, type Kernel, type PolicyDocument } from "@keyhole/kernel";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../../packages/worker-host/src/brokers/memory-store.ts";
import { expectSoundLog } from "../support/kernel.ts";
import { calling, leaf } from "../support/nested.ts";
import { sized } from "../support/size.ts";

// A result that is kept and given again, under an idempotency key, says what its requests brought. Whoever gets it again must be able to make each of them now, and gets its labels.

const files = ["public/a.txt", "private/s.txt"] as const;

interface Files {
  readonly files: { readonly read: (path: string) => Promise<Uint8Array> };
}
const read = async ({ path }: { readonly path: string }, { files: own }: Files): Promise<string> =>
  new TextDecoder().decode(await own.read(path));
const reader = leaf("read", read, {
  effects: ["fs.read"],
  capabilities: [{ kind: "fs.read", paths: ["**"], optional: true }],
  output: { kind: "text" },
});
/** Reads through another tool. */
const outer = calling("outer", async (input, { tools }) => {
  const answer = await tools.call("read", input);
  return answer.ok ? answer.data : answer.error.code;
});

const policyOf = (paths: readonly string[], denied: readonly string[] = []): PolicyDocument => ({
  version: "1",
  posture: "permissive",
  grants: [
    { tool: "outer", capability: { kind: "tool.call", tools: ["read"] } },
    ...(paths.length > 0 ? [{ tool: "read", capability: { kind: "fs.read", paths } } as const] : []),
  ],
  rules: denied.map((path, at) => ({
    id: `deny-${at}`,
    effect: "deny" as const,
    when: { path: [path] },
    reason: "denied",
  })),
});

async function open(policy: PolicyDocument): Promise<Kernel> {
  const store = memoryStore();
  for (const path of files) await store.write(path, new TextEncoder().encode(`content of ${path}`));
  const kernel = await createKernel({ policy, brokers: [filesBroker(store)] });
  for (const tool of [reader, outer]) expect(kernel.registerTrusted(tool)).toMatchObject({ ok: true });
  return kernel;
}

const path = fc.constantFrom(...files);
const paths = fc.subarray(["public/**", "private/**", "**", "private/s.txt"]);
const denied = fc.subarray(["private/**", "public/a.txt"]);

describe("a result that an idempotency key keeps", () => {
  it("is given again only where the call could make each of its requests now", () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom("read", "outer"),
        path,
        paths,
        denied,
        fc.option(fc.subarray(["public/**", "private/**"], { minLength: 1 })),
        fc.boolean(),
        async (tool, file, after, deniedAfter, narrowed, isRevoked) => {
          const kernel = await open(policyOf(["**"]));
          const keyed = { caller: "ada", idempotencyKey: "k" };
          const first = await kernel.call(tool, { path: file }, keyed);
          expect(first).toMatchObject({ ok: true, data: `content of ${file}` });
          expect(await kernel.setPolicy(policyOf(after, deniedAfter))).toMatchObject({ ok: true });
          if (isRevoked) await kernel.grants.revoke({ caller: "ada", kinds: ["fs.read"] }, "test");
          const options: CallOptions = narrowed
            ? {
                grants: [
                  { kind: "fs.read", paths: narrowed },
                  { kind: "tool.call", tools: ["*"] },
                ],
              }
            : {};
          const anew = await kernel.call(tool, { path: file }, { caller: "ada", ...options });
          const again = await kernel.call(tool, { path: file }, { ...keyed, ...options });
          const told = again.ok && again.data === `content of ${file}`;
          if (told) expect(anew).toMatchObject({ ok: true, data: again.data });
          else expect(again).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
          await expectSoundLog(kernel);
          await kernel.close();
        },
      ),
      { numRuns: sized(60, 1_000) },
    ));

  it("is given again where nothing has changed, and where each of its requests is granted by another policy", async () => {
    const kernel = await open(policyOf(["**"]));
    const keyed = { caller: "ada", idempotencyKey: "k" };
    for (const tool of ["read", "outer"]) {
      const key = { ...keyed, idempotencyKey: tool };
      await kernel.call(tool, { path: "public/a.txt" }, key);
      expect(await kernel.call(tool, { path: "public/a.txt" }, key)).toMatchObject({
        ok: true,
        meta: { cached: true },
      });
    }
    expect(await kernel.setPolicy(policyOf(["public/**"]))).toMatchObject({ ok: true });
    const again = await kernel.call("read", { path: "public/a.txt" }, { ...keyed, idempotencyKey: "read" });
    expect(again).toMatchObject({ ok: true, meta: { cached: true } });
  });

  it("is not given again after its kind of access was revoked", async () => {
    const kernel = await open(policyOf(["**"]));
    const keyed = { caller: "ada", idempotencyKey: "k" };
    await kernel.call("read", { path: "public/a.txt" }, keyed);
    await kernel.grants.revoke({ caller: "ada", kinds: ["fs.read"] }, "test");
    expect(await kernel.call("read", { path: "public/a.txt" }, keyed)).toMatchObject({
      error: { code: "INVALID_INPUT" },
    });
  });
});

describe("the labels of a kept result", () => {
  const labelled: PolicyDocument = {
    version: "1",
    posture: "permissive",
    labels: { private: { tools: ["secret"] } },
    grants: [{ tool: "*", capability: { kind: "tool.call", tools: ["*"] } }],
    rules: [{ id: "no", effect: "deny", when: { tool: ["send"], labels: ["private"] }, reason: "private" }],
  };
  const passes = (name: string, inner: string) =>
    calling(name, async (_, { tools }) => {
      const answer = await tools.call(inner);
      if (!answer.ok) throw new Error(answer.error.message);
      return answer.data;
    });

  it.each([
    ["the tool itself", "secret"],
    ["a tool that it called", "one"],
    ["a tool that one of those called", "two"],
    ["a tool that failed after it had called", "fails"],
  ])("follow it into each session that gets it, where they are those of %s", async (_, tool) => {
    const kernel = await createKernel({ policy: labelled });
    const fails = calling("fails", async (__, { tools }) => {
      throw new Error(JSON.stringify(await tools.call("secret")));
    });
    const tools = [
      leaf("secret", () => "the secret"),
      leaf("send", () => "sent"),
      passes("one", "secret"),
      passes("two", "one"),
      fails,
    ];
    for (const each of tools) expect(kernel.registerTrusted(each)).toMatchObject({ ok: true });
    const keyed = { caller: "m", idempotencyKey: "k" };
    await kernel.call(tool, {}, { ...keyed, sessionId: "first" });
    expect(await kernel.call(tool, {}, { ...keyed, sessionId: "first" })).toMatchObject({ meta: { cached: true } });
    for (const sessionId of ["second", "third"]) {
      expect(await kernel.call("send", {}, { caller: "m", sessionId })).toMatchObject({ ok: true });
      await kernel.call(tool, {}, { ...keyed, sessionId });
      expect(await kernel.call("send", {}, { caller: "m", sessionId })).toMatchObject({
        error: { code: "POLICY_DENIED" },
      });
    }
    await expectSoundLog(kernel);
  });
});
