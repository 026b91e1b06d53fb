import {
  blake3Hash,
  builtInFamilies,
  type CompiledPolicy,
  compilePolicy,
  createFullKernel,
  createKernel,
  type Kernel,
  type PolicyDocument,
  policyDocuments,
  policyRules,
} from "@keyhole/kernel";
import { Families, netRead, netWrite } from "@keyhole/kernel/families";
import { inlineHost } from "@keyhole/kernel/inline";
import { sha256Hash } from "@keyhole/kernel/sha256";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadRules } from "../../packages/kernel/src/policy/decision/load-rules.ts";
import { loadCompiled } from "../../packages/kernel/src/policy/document/compiled.ts";
import { requestPolicyOf } from "../../packages/kernel/src/policy/decision/request-policy.ts";
import { echo } from "../support/kernel.ts";
import { sized } from "../support/size.ts";
import { randomCases } from "./random-cases.ts";
import { decisionBy, inputOf, loaded } from "./support.ts";

/** A rule or a grant of every form that a compiled policy has to keep. */
const rich: PolicyDocument = {
  version: "1",
  posture: "standard",
  grants: [
    { tool: "echo", capability: { kind: "net.read", hosts: ["*.example.com"] } },
    { tool: "*", caller: "ada", capability: { kind: "fs.read", paths: ["notes/**"] } },
  ],
  rules: [
    { id: "count", effect: "deny", when: { tool: ["echo"], count: { windowMs: 1_000, moreThan: 2 } }, reason: "x" },
    { id: "host", effect: "deny", when: { host: ["evil.example.com"] }, reason: "x" },
    { id: "secret", effect: "ask", when: { labels: ["private"] }, reason: "x" },
  ],
  tools: { echo: { rate: { calls: 5, windowMs: 60_000 } } },
  labels: { private: { tools: ["echo"], implies: ["known"] }, known: {} },
};

function compile(document: unknown = rich, ...more: [Record<string, string>?, typeof sha256Hash?]): CompiledPolicy {
  const [variables = {}, by = sha256Hash] = more;
  const result = compilePolicy(document, variables, by);
  if (!result.ok) throw new TypeError(result.error.message);
  // As it comes from a file.
  return JSON.parse(JSON.stringify(result.value)) as CompiledPolicy;
}

const open = (policy: unknown): Promise<Kernel> =>
  createKernel({
    policy,
    hash: sha256Hash,
    families: builtInFamilies,
    inline: inlineHost(),
    extensions: [policyRules()],
  });

/** A member named `__proto__` is refused before any digest is compared. */
const plainJson = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__"));

describe("a compiled policy", () => {
  it("has the hash of its document, and a kernel without the reader of documents runs with it", async () => {
    const kernel = await open(compile());
    const full = await createFullKernel({ policy: rich, hash: sha256Hash });
    expect(kernel.policyHash).toBe(full.policyHash);
    kernel.registerTrusted(echo);
    expect(await kernel.call("echo", { message: "a" })).toMatchObject({ ok: true });
  });

  it("decides as its document, with the same rules", () => {
    for (const { rules, calls } of randomCases(7, sized(100, 2_000), 10)) {
      const policy = loaded({ posture: "permissive", rules });
      const read = loadCompiled(
        compile(policy.document, {}, blake3Hash) as never,
        blake3Hash,
        builtInFamilies,
        loadRules,
      );
      if (!read.ok) throw new TypeError(read.error.message);
      expect(read.value.hash).toBe(policy.hash);
      for (const { tool: name, ...more } of calls) {
        const [actual, expected] = [read.value, policy].map((each) => decisionBy(each, inputOf({ name, ...more })));
        const shown = (verdict: typeof actual) => [verdict?.decision, verdict?.determining.map(({ rule }) => rule.id)];
        expect(shown(actual)).toEqual(shown(expected));
      }
    }
  });

  it("has its variables filled in", async () => {
    const document = { version: "1", posture: "strict", labels: { ["a"]: { tools: ["echo"] } } };
    const withVariable = {
      ...document,
      rules: [{ id: "r", effect: "deny", when: { caller: ["${WHO}"] }, reason: "x" }],
    };
    expect(compile(withVariable, { WHO: "ada" }).document.rules?.[0]?.when.caller).toEqual(["ada"]);
    expect(compilePolicy(withVariable, {}, sha256Hash)).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
  });

  it("can be set later, in place of a document, also in a full kernel", async () => {
    const full = await createFullKernel({ hash: sha256Hash });
    const composed = await open(undefined);
    const policyHash = compilePolicy(rich, {}, sha256Hash).ok && (await full.setPolicy(rich));
    for (const kernel of [full, composed]) expect(await kernel.setPolicy(compile())).toEqual(policyHash);
  });
});

const net = new Families([netRead, netWrite]);
const denying = (when: object) => ({ id: "r", effect: "deny", when, reason: "x" });

describe("a kernel of few kinds", () => {
  it("takes a policy that was compiled for all kinds, and needs those of its own alone", async () => {
    const document = {
      version: "1",
      posture: "standard",
      grants: [{ tool: "*", capability: { kind: "net.read", hosts: ["example.com"] } }],
      // A glob of files says nothing of network paths, and is no reason to refuse.
      rules: [denying({ host: ["evil.example.com"] }), { ...denying({ path: ["/admin", "keys/**"] }), id: "s" }],
      tools: { echo: { hosts: { forbidden: ["a.example.com"] }, sizes: { inputBytes: 9 } } },
    };
    const policy = compile(document);
    expect(policy).toMatchObject({ kinds: ["net.read"], members: ["tools.hosts", "when.host", "when.path"] });
    const kernel = await createKernel({ policy, hash: sha256Hash, families: net, extensions: [policyRules()] });
    expect(kernel.policyHash).toBe((await open(compile(document))).policyHash);
  });

  it("says the same of each request as a kernel of all kinds", () => {
    const cases = fc.record({
      rules: fc.array(requestRule, { maxLength: 4 }),
      need: fc.record({ path: fc.constantFrom("/", "/admin", "/a/b"), host: fc.constantFrom("example.com", "b.org") }),
    });
    fc.assert(
      fc.property(cases, ({ rules, need }) => {
        const whole = compile({ version: "1", posture: "permissive", rules: rules.map(numbered) });
        const [few, all] = [net, builtInFamilies].map((families) => {
          const read = loadCompiled(whole as never, sha256Hash, families, loadRules);
          return read.ok ? read.value : undefined;
        });
        if (!few || !all) return;
        const input = inputOf({ name: "echo" });
        const json = { kind: "net.read", method: "GET", port: 443, ...need };
        const request = netRead.need(json);
        expect(requestPolicyOf(few, input).refusal(request)).toBe(requestPolicyOf(all, input).refusal(request));
        expect(decisionBy(few, input)?.decision).toBe(decisionBy(all, input)?.decision);
      }),
      { numRuns: sized(200, 5_000) },
    );
  });
});

const requestRule = fc
  .record(
    {
      host: fc.constantFrom(["example.com"], ["*.org"], ["*"]),
      path: fc.constantFrom(["/admin"], ["/a", "b/**"], ["a/**"]),
      method: fc.constantFrom(["GET"], ["POST"]),
      capability: fc.constantFrom(["net.read"], ["net.write", "net.read"]),
      key: fc.constant(["a"]),
    },
    { requiredKeys: [] },
  )
  .map(denying);
const numbered = (rule: object, index: number) => ({ ...rule, id: `r${index}` });

describe("a kernel refuses", () => {
  const refused = (path: string, message: string) => ({
    ok: false,
    error: { code: "INVALID_POLICY", path, message: expect.stringContaining(message) as string },
  });

  it("a document, where it has no reader of documents, and opens the strict policy without one", async () => {
    await expect(open(rich)).rejects.toThrow("policyDocuments()");
    await expect(open(null)).rejects.toThrow("policyDocuments()");
    const strict = await open(undefined);
    expect(await strict.setPolicy(rich)).toMatchObject(refused("", "compiled policies only"));
    for (const nothing of [undefined, null]) expect(await strict.setPolicy(nothing)).toMatchObject({ ok: false });
    const reading = await createKernel({
      policy: rich,
      hash: sha256Hash,
      families: builtInFamilies,
      extensions: [policyDocuments()],
    });
    expect(reading.policyHash).toBe((await open(compile())).policyHash);
  });

  it("one that was compiled with another hash, or for a kind that it does not know", async () => {
    const kernel = await open(undefined);
    const inBlake3 = compile(rich, {}, blake3Hash);
    expect(await kernel.setPolicy(inBlake3)).toMatchObject(refused("/digest", "another algorithm, expected sha256"));
    const few = new Families([...builtInFamilies].slice(1));
    expect(loadCompiled(compile() as never, sha256Hash, few, loadRules)).toMatchObject(
      refused("/kinds", "names net.read"),
    );
  });

  it.each([
    ["a grant", { grants: [{ tool: "*", capability: { kind: "kv.read", keys: ["a"] } }] }, "names kv.read"],
    ["a rule", { rules: [denying({ capability: ["clock"] })] }, "names clock"],
    ["the effects of a rule", { rules: [denying({ effects: ["db.write"] })] }, "names db.write"],
    ["a condition of a rule", { rules: [denying({ key: ["a"] })] }, "has `when.key`"],
    ["a list of a tool", { tools: { echo: { databases: { forbidden: ["a"] } } } }, "has `tools.databases`"],
    ["a size of a tool", { tools: { echo: { sizes: { fileBytes: 1 } } } }, "has `sizes.fileBytes`"],
  ])("one that needs more than the kernel has, in %s", (_, more, said) => {
    const policy = compile({ version: "1", posture: "standard", ...more });
    expect(loadCompiled(policy as never, sha256Hash, net, loadRules)).toMatchObject({
      ok: false,
      error: {
        code: "INVALID_POLICY",
        message: expect.stringContaining(said),
        hint: expect.stringContaining("broker"),
      },
    });
  });

  it("one of another format, and one without a digest", async () => {
    const kernel = await open(undefined);
    const { digest: _, ...parts } = compile();
    expect(await kernel.setPolicy({ ...compile(), format: "keyhole.compiled-policy.v2" })).toMatchObject(
      refused("/format", "expected keyhole.compiled-policy.v1"),
    );
    for (const digest of [undefined, null, 1, "", "sha256:00", [compile().digest]])
      expect(await kernel.setPolicy({ ...parts, ...(digest !== undefined && { digest }) })).toMatchObject(
        refused("/digest", "without a digest"),
      );
  });

  it("each change of a compiled policy, wherever it is", async () => {
    const kernel = await open(undefined);
    const whole = compile();
    const places = pointersOf(whole).filter((path) => path[0] !== "format" && path[0] !== "digest");
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), plainJson, async (path, value) => {
        const { changed, isSame } = changedAt(whole, path, value);
        fc.pre(!isSame);
        expect(await kernel.setPolicy(changed)).toMatchObject(refused("/digest", "changed since its compilation"));
      }),
      { numRuns: sized(200, 5_000) },
    );
    expect(await kernel.setPolicy({ ...whole, added: 1 })).toMatchObject(refused("/digest", "changed"));
  });

  it("a text that has no UTF-8, and so no digest", async () => {
    const kernel = await open(undefined);
    expect(await kernel.setPolicy({ ...compile(), added: "\ud800" })).toMatchObject({ ok: false });
    expect(await kernel.setPolicy({ ...compile(), ["\ud800"]: 1 })).toMatchObject({ ok: false });
  });

  it("a getter that gives another document the second time", async () => {
    let reads = 0;
    const twoFaced = {
      ...compile(),
      get document() {
        return reads++ === 0 ? rich : {};
      },
    };
    const kernel = await open(undefined);
    expect(await kernel.setPolicy(twoFaced)).toMatchObject({ ok: false });
  });
});

function pointersOf(value: unknown, path: readonly string[] = []): string[][] {
  const own = path.length > 0 ? [[...path]] : [];
  if (typeof value !== "object" || value === null) return own;
  return [...own, ...Object.entries(value).flatMap(([key, each]) => pointersOf(each, [...path, key]))];
}

function changedAt(whole: unknown, path: readonly string[], value: unknown): { changed: unknown; isSame: boolean } {
  const changed = structuredClone(whole);
  const parent = path
    .slice(0, -1)
    .reduce((each, key) => each[key] as Record<string, unknown>, changed as Record<string, unknown>);
  const key = path.at(-1)!;
  const isSame = JSON.stringify(parent[key]) === JSON.stringify(value);
  parent[key] = value;
  return { changed, isSame };
}
