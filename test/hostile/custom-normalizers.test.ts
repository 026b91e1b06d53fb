import { eventOf, hashJson, type JsonValue, memorySink, type Tool } from "@keyhole/kernel";
import { verifyAudit } from "@keyhole/kernel/audit";
import { normalizers } from "@keyhole/kernel/normalizers";
import { verifyProof } from "@keyhole/kernel/policy";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

type Own = (output: JsonValue | Uint8Array) => unknown;

/** One call of a tool that returns `output`, with a normalizer of this name. */
async function callWith(own: Own, output: unknown, more: Record<string, unknown> = {}) {
  const bench = await openKernel({ normalizers: normalizers([{ name: "own", version: "1.2.3", normalize: own }]) });
  const registered = bench.kernel.registerTrusted(toolOf(() => output, { normalization: { custom: "own" }, ...more }));
  if (!registered.ok) throw new Error(registered.error.message);
  const result = await bench.kernel.call("subject", {});
  await expectSoundLog(bench.kernel);
  return { ...bench, result, manifest: registered.value.manifest };
}

const refused = (reason: string, path = ""): object => ({
  ok: false,
  error: { code: "NOT_NORMALIZABLE", retryable: false, details: { reason, path, normalizer: "own@1.2.3" } },
});

describe("a normalizer of the embedding program", () => {
  it("makes what is hashed and handed on, and is named in proof and log", async () => {
    const { result, events, manifest } = await callWith((output) => (output as string[]).toSorted(), ["b", "a"]);
    if (!result.ok) throw new Error(result.error.message);
    expect(result.data).toEqual(["a", "b"]);
    expect(result.hash).toBe(hashJson(["a", "b"]));
    expect(result.proof).toMatchObject({ normalizer: "own@1.2.3" });
    const log = await events();
    expect(log.find(({ type }) => type === "tool.completed")).toMatchObject({
      payload: { normalizer: "own@1.2.3", outputHash: result.hash, outputBytes: 9 },
    });
    expect(await verifyAudit(log)).toMatchObject({ verdict: "unvouched" });
    const evidence = { events: log, policy: openPolicy, tool: { manifest }, input: {} };
    expect(await verifyProof(result.proof, evidence)).toMatchObject({ verdict: "unvouched" });
  });

  it("that is not the one which the tool names is found by who verifies", async () => {
    const { result, events, manifest } = await callWith((output) => output, 1);
    const { sealProof } = await import("../../packages/kernel/src/policy/proof/seal-proof.ts");
    const { blake3Hash } = await import("@keyhole/kernel");
    const { hash: _, v: __, engineVersion: ___, normalizer: ____, ...body } = result.proof!;
    const evidence = { policy: openPolicy, tool: { manifest }, input: {} };
    for (const forged of [sealProof(body, blake3Hash), sealProof({ ...body, normalizer: "other@1.0.0" }, blake3Hash)])
      expect((await verifyProof(forged, evidence)).steps).toContainEqual({
        level: 2,
        name: "re-evaluation",
        outcome: "failed",
        reason: "The tool names another normalizer than the proof.",
      });
    expect(await events()).toHaveLength(6);
  });

  it("goes over texts and bytes as well, which then have the form of their kind", async () => {
    const text = await callWith((output) => `${String(output)}\r\n`, "e\u0301", { output: { kind: "text" } });
    expect(text.result).toMatchObject({ ok: true, data: "é\n" });
    const bytes = await callWith((output) => (output as Uint8Array).toReversed(), Uint8Array.of(1, 2), {
      output: { kind: "binary" },
    });
    expect(bytes.result).toMatchObject({ ok: true, data: Uint8Array.of(2, 1) });
  });

  it("answers an equal call from what it made before", async () => {
    const { kernel, events } = await callWith((output) => (output as string[]).toSorted(), ["b", "a"]);
    for (let i = 0; i < 2; i++)
      expect(await kernel.call("subject", {}, { idempotencyKey: "k" })).toMatchObject({ ok: true, data: ["a", "b"] });
    const ends = (await events()).filter(({ type }) => type === "tool.completed");
    expect(ends).toHaveLength(3);
    for (const { payload } of ends) expect(payload).toMatchObject({ normalizer: "own@1.2.3" });
  });
});

describe("what has no normal form by it", () => {
  let calls = 0;
  it.each<[string, Own, object]>([
    [
      "it throws",
      () => {
        throw new Error("no");
      },
      refused("normalizer-threw"),
    ],
    [
      "it throws a proxy",
      () => {
        throw new Proxy(
          {},
          {
            get: () => {
              throw new Error("trap");
            },
          },
        );
      },
      refused("normalizer-threw"),
    ],
    ["it counts", () => ++calls, refused("normalizer-varies")],
    ["it is random", () => Math.random(), refused("normalizer-varies")],
    ["it is right only once", () => (++calls % 2 === 0 ? undefined : 1), refused("normalizer-varies")],
    ["it is asynchronous", async () => 1, refused("not-plain")],
    [
      "it is asynchronous and fails, which is nobody's unhandled rejection",
      () => Promise.reject(new Error("no")),
      refused("not-plain"),
    ],
    ["it gives nothing", () => undefined, refused("undefined")],
    ["it gives a date", () => ({ at: new Date(0) }), refused("not-plain", "/at")],
    ["it gives what is no number", () => ({ a: [NaN] }), refused("not-finite", "/a/0")],
    [
      "it gives a getter",
      () => ({
        get a() {
          return 1;
        },
      }),
      refused("accessor", "/a"),
    ],
    [
      "it gives a cycle",
      () => {
        const a: { a?: object } = {};
        a.a = a;
        return a;
      },
      refused("cycle", "/a"),
    ],
    ["it gives half a surrogate pair", () => "\ud800", refused("lone-surrogate")],
    ["it gives `__proto__`", () => JSON.parse('{"__proto__":{}}') as JsonValue, refused("proto-key", "/__proto__")],
    [
      "it gives 65 levels",
      () => {
        let deep: unknown = 1;
        for (let i = 0; i < 65; i++) deep = [deep];
        return deep;
      },
      refused("too-deep", "/0".repeat(64)),
    ],
  ])("because %s", async (_, own, expected) => {
    // prettier-ignore
    const { result, events } = await callWith(own, { any: 1 });
    expect(result).toMatchObject(expected);
    expect((await events()).at(-1)).toMatchObject({ type: "tool.failed", payload: { code: "NOT_NORMALIZABLE" } });
  });

  it("because it is larger than the call may return: at the bound and one past", async () => {
    const bounds = { outputBytes: 12 };
    expect((await callWith(() => "x".repeat(10), 1, { bounds })).result).toMatchObject({ ok: true });
    expect((await callWith(() => "x".repeat(11), 1, { bounds })).result).toMatchObject(refused("too-large"));
  });

  it("because it is of another kind than the tool's, or breaks its contract", async () => {
    expect((await callWith(() => 1, "a", { output: { kind: "text" } })).result).toMatchObject(refused("not-text"));
    const bytes = { output: { kind: "binary" } };
    expect((await callWith(() => [1], Uint8Array.of(1), bytes)).result).toMatchObject(refused("not-bytes"));
    const contract = { output: { kind: "json", schema: { type: "integer" } } };
    expect((await callWith((n) => Number(n) / 2, 3, contract)).result).toMatchObject(refused("breaks-contract"));
    expect((await callWith((n) => Number(n) / 2, 4, contract)).result).toMatchObject({ ok: true, data: 2 });
  });

  it("does not leave a trace in what the tool returned, nor in the kernel", async () => {
    const seen: unknown[] = [];
    const { result } = await callWith(
      (output) => {
        seen.push(JSON.stringify(output));
        (output as Record<string, unknown>)["changed"] = true;
        return 1;
      },
      { a: 1 },
    );
    expect(result).toMatchObject({ ok: true, data: 1 });
    expect(seen).toEqual(['{"a":1}', '{"a":1}']);
  });

  it("never makes a call reject, whatever it gives", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
        async (made) => {
          const { result } = await callWith(() => made, null);
          if (result.ok) expect(result.hash).toBe(hashJson(result.data as JsonValue));
          else expect(result.error.code).toBe("NOT_NORMALIZABLE");
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("a name", () => {
  const subject = (normalization: unknown): Tool => toolOf(() => 1, { normalization });
  it.each<[string, unknown, string]>([
    ["the kernel does not have", { custom: "absent" }, "/normalization/custom"],
    ["an object inherits", { custom: "constructor" }, "/normalization/custom"],
    ["is none", { custom: "__proto__" }, "/normalization/custom"],
    ["is no text", { custom: 1 }, "/normalization/custom"],
    ["is not there", {}, "/normalization"],
    ["is not alone", { custom: "own", json: true }, "/normalization"],
  ])("that %s is refused at registration", async (_, normalization, path) => {
    const { kernel, events } = await openKernel({
      normalizers: normalizers([{ name: "own", version: "1.0.0", normalize: (output) => output }]),
    });
    const registered = kernel.registerTrusted(subject(normalization));
    expect(registered).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST" } });
    expect(registered.ok ? "" : registered.error.path.startsWith(path)).toBe(true);
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "TOOL_NOT_FOUND" } });
    expect((await events()).some(({ type }) => type === "tool.registered")).toBe(false);
  });

  it.each<[string, readonly [string, string][]]>([
    ["of no form", [["Own", "1.0.0"]]],
    ["with a version of no form", [["own", "1"]]],
    ["with quotes in its version", [["own", '1.0.0-"']]],
    [
      "twice",
      [
        ["own", "1.0.0"],
        ["own", "2.0.0"],
      ],
    ],
  ])("%s is a bug of the embedding program", (_, names) => {
    // prettier-ignore
    expect(() => normalizers(names.map(([name, version]) => ({ name, version, normalize: (output) => output })))).toThrow(TypeError);
  });

  it("is in no log of a kernel whose tools have none", async () => {
    const sink = memorySink();
    const { kernel } = await openKernel({ sink });
    kernel.registerTrusted(toolOf(() => 1));
    const { proof } = await kernel.call("subject", {});
    expect(proof).not.toHaveProperty("normalizer");
    expect(JSON.stringify((await sink.read(0, 99)).map(eventOf))).not.toContain("normalizer");
  });
});
