import {
  type AuditEvent,
  type CallResult,
  policy as policyOf,
  type PolicyDocument,
  type ToolSummary,
  visible,
} from "@keyhole/kernel";
import { createProofKey, keyId, publicKeyOf } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { startPolicy } from "../../packages/playground/src/kernel/default-policy.ts";
import {
  isHashOf,
  parseHost,
  readPolicy,
  withHost,
  withSearch,
  withoutGrant,
} from "../../packages/playground/src/policy/edit.ts";
import { formatDocument } from "../../packages/playground/src/policy/format.ts";
import { type Given, readGiven } from "../../packages/playground/src/verify/read.ts";
import { type ActiveRun, reduceRun, type RunAction, startRun } from "../../packages/playground/src/run/run-state.ts";

const tool = { id: "echo@1.0.0" } as ToolSummary;
const after = (...actions: readonly RunAction[]): ActiveRun =>
  actions.reduce(reduceRun, startRun({ tool, input: {}, startedAt: 0 }, undefined));
const event = (seq: number): AuditEvent => ({ seq, id: `e${seq}`, type: "call.invoked" }) as AuditEvent;
const done: RunAction = { type: "done", result: { ok: true } as CallResult, file: undefined };

describe("a run", () => {
  it("keeps events in the log's order, each once, also after its end", () => {
    const run = after(
      { type: "events", events: [event(2)] },
      done,
      { type: "events", events: [event(1), event(4), event(3)] },
      { type: "events", events: [event(2), event(5)] },
    );
    expect(run).toMatchObject({ phase: "done", events: [1, 2, 3, 4, 5].map((seq) => ({ seq })) });
  });

  it("cannot be cancelled after its end", () => {
    expect(after(done, { type: "cancel" })).toMatchObject({ phase: "done" });
    expect(after({ type: "cancel" })).toMatchObject({ phase: "running", cancelling: true });
  });
});

describe("the policy panel", () => {
  it("starts with a policy that the kernel takes", () => {
    expect(readPolicy(formatDocument(startPolicy))).toMatchObject({ ok: true, document: { posture: "standard" } });
  });

  it.for<[string, string, number | undefined]>([
    ["example.com", "example.com", undefined],
    [" https://Example.COM/path?x=1 ", "example.com", undefined],
    ["*.example.com", "*.example.com", undefined],
    ["*", "*", undefined],
    ["127.0.0.1:8080", "127.0.0.1", 8080],
    ["http://[::1]:3000/", "[::1]", 3000],
    ["example.com.", "example.com", undefined],
  ])("reads the host %s", ([typed, host, port]) => {
    expect(parseHost(typed)).toEqual({ ok: true, host, port });
  });

  it.for(["", "  ", "a b", "http://", "exa*mple.com", "*.com.*", "*.127.0.0.1"])("refuses the host %j", (typed) => {
    expect(parseHost(typed).ok).toBe(false);
  });

  it("adds hosts and takes them away again", () => {
    const policy = withHost(withHost(startPolicy, "example.com", undefined), "127.0.0.1", 8080);
    const hosts = ({ grants = [] }: PolicyDocument): readonly unknown[] =>
      grants.flatMap(({ tool, capability }) => (tool === "http_fetch" ? [capability] : []));
    const [first, second] = [{ hosts: ["example.com"] }, { hosts: ["127.0.0.1"], ports: [8080] }];
    expect(hosts(policy)).toMatchObject([first, second]);
    const less: PolicyDocument = withoutGrant(policy, startPolicy.grants!.length);
    expect(hosts(less)).toMatchObject([second]);
    expect(readPolicy(formatDocument(less)).ok).toBe(true);
  });

  it.for<[string, string, number]>([
    ["https://search.example.com/find", "search.example.com", 443],
    ["http://search.example.com/find", "search.example.com", 80],
    ["http://127.0.0.1:8080/", "127.0.0.1", 8080],
  ])("grants the search engine at %s its host and its port alone", ([address, host, port]) => {
    const before = withSearch(startPolicy, "https://before.example.com/");
    const policy = withSearch(before, address);
    const grants = (policy.grants ?? []).filter(({ tool }) => tool === "web_search");
    expect(grants.map(({ capability }) => capability)).toEqual([
      { kind: "net.read", hosts: [host], ports: [port], methods: ["GET"] },
    ]);
    expect(readPolicy(formatDocument(policy)).ok).toBe(true);
    expect(withSearch(policy, undefined).grants?.some(({ tool }) => tool === "web_search")).toBe(false);
  });

  it("recomputes the hash of the policy that it shows", () => {
    const loaded = policyOf(startPolicy);
    expect(loaded.ok && isHashOf(loaded.value.hash, startPolicy)).toBe(true);
    expect(loaded.ok && isHashOf(loaded.value.hash, { ...startPolicy, posture: "strict" })).toBe(false);
    expect(isHashOf("", startPolicy)).toBe(false);
  });

  it("says where a policy is wrong", () => {
    expect(readPolicy("{")).toMatchObject({ ok: false, error: { path: "" } });
    expect(readPolicy('{"version":"1","posture":"lenient"}')).toMatchObject({ ok: false, error: { path: "/posture" } });
  });
});

describe("text of a tool", () => {
  it("shows what would hide or reorder, and nothing else", () => {
    expect(visible("a\u202eb\u200bc\ufeff")).toBe("a\\u202eb\\u200bc\\ufeff");
    const plain = "Grüße, 世界, مرحبا, 👩\u{1f3fd}\n\ttab";
    expect(visible(plain)).toBe(plain);
  });
});

describe("the page that verifies a proof", async () => {
  const none: Given = { proof: "", keys: "", events: "", checkpoints: "", policy: "", tool: "", input: "" };
  const key = publicKeyOf(await createProofKey());
  const other = publicKeyOf(await createProofKey());
  const proof = JSON.stringify({ proof: { v: 1 }, keys: [key] });

  it("takes what a person filled in instead of what the proof's file says", async () => {
    const file = JSON.stringify({ proof: { v: 1 }, input: { amount: 1 }, policy: { version: "1" } });
    const read = await readGiven({ ...none, proof: file, input: '{ "amount": 2 }', checkpoints: "{}" });
    expect(read).toMatchObject({
      ok: true,
      value: {
        proof: { v: 1 },
        evidence: { input: { amount: 2 }, policy: { version: "1" }, checkpoints: [{}] },
      },
    });
  });

  it("trusts no key of the proof's file, but the one with a thumbprint that a person gave", async () => {
    const [kid, otherKid] = [await keyId(key), await keyId(other)];
    const trustedBy = async (keys: string): Promise<readonly boolean[]> => {
      const read = await readGiven({ ...none, proof, keys });
      if (!read.ok) throw new Error(read.message);
      return [kid, otherKid].map((each) => read.value.trusted?.kids.includes(each) === true);
    };
    expect(await trustedBy("")).toEqual([false, false]);
    expect(await trustedBy(JSON.stringify(other))).toEqual([false, true]);
    expect(await trustedBy(` ${kid}\n`)).toEqual([true, false]);
    expect(await trustedBy(`${otherKid}\n${kid}`)).toEqual([true, false]);
  });

  it.each<[string, Partial<Given>, string, RegExp]>([
    ["the file itself as the keys", { keys: proof }, "keys", /not a key file/],
    ["an empty list of keys", { keys: "[]" }, "keys", /no key/],
    ["PEM", { keys: "-----BEGIN PUBLIC KEY-----" }, "keys", /PEM/],
    ["a thumbprint of no key", { keys: await keyId(other) }, "keys", /No key has a pinned thumbprint/],
    ["a thumbprint that is none", { keys: "main-key" }, "keys", /not a thumbprint/],
    ["a thumbprint where no key came", { proof: "{}", keys: await keyId(key) }, "keys", /Give the key itself/],
    ["two signatures", { proof: '{"signature":1,"signature":2}' }, "proof", /duplicate member/],
    ["an event with a member twice", { events: '{"seq":0}\n{"seq":1,"seq":2}' }, "events", /^Line 2\. .*duplicate/],
    [
      "a private key in the file",
      { proof: JSON.stringify({ proof: {}, keys: { ...key, d: "" } }) },
      "proof",
      /private/,
    ],
    ["an event of a log", { proof: '{"seq":0,"prev":"","hash":""}' }, "proof", /an audit log/],
    ["a log", { proof: '{"seq":0,"prev":"","hash":""}\n{"seq":1,"prev":"","hash":""}\n' }, "proof", /an audit log/],
    ["a list of events", { proof: '[{"seq":0,"prev":"","hash":""}]' }, "proof", /a list/],
    ["a checkpoint", { proof: '{"root":"","size":1}' }, "proof", /a checkpoint/],
    ["a run", { proof: '{"format":"keyhole-run","v":1}\n{"kind":"end"}\n' }, "proof", /a recorded run/],
  ])("takes nothing of %s", async (_, given, member, message) => {
    expect(await readGiven({ ...none, proof, ...given })).toEqual({
      ok: false,
      member,
      message: expect.stringMatching(message),
    });
  });
});
