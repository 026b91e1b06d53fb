import {
  type JsonObject,
  policy as policyOf,
  type Policy,
  type PolicyDocument,
  type ToolManifest,
} from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startPolicy } from "../../packages/playground/src/kernel/default-policy.ts";
import { formatDocument } from "../../packages/playground/src/policy/format.ts";
import { mergePolicies } from "../../packages/playground/src/policy/merge.ts";
import { offsetOf, readPolicyText } from "../../packages/playground/src/policy/notes.ts";
import { compareOver, coverageOf, type SessionCall } from "../../packages/playground/src/policy/simulation.ts";
import { templates } from "../../packages/playground/src/policy/templates.ts";
import { lineDiff, withContext } from "../../packages/playground/src/ui/line-diff.ts";
import { sized } from "../support/size.ts";

const numRuns = sized(100, 2_000);

describe("the text of a policy", () => {
  it("is the same document, with hidden characters as escapes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(formatDocument(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns },
    );
    expect(formatDocument({ a: "b\u202ec" })).toBe('{\n  "a": "b\\u202ec"\n}');
  });

  it("has each grant and each rule in a line of its own", () => {
    const text = formatDocument(startPolicy);
    const lines = (startPolicy.grants ?? []).map((_, index) => {
      const at = offsetOf(text, `/grants/${index}`);
      return text.slice(0, at).split("\n").length;
    });
    expect(new Set(lines).size).toBe(startPolicy.grants!.length);
  });

  it.for<[string, string, string]>([
    ["not JSON", '{ "version": "1" ', "not JSON"],
    ["refused", '{ "version": "1", "posture": "standard",\n "grant": [] }', "refused"],
    ["a doubled key", '{ "version": "1", "posture": "strict", "posture": "standard" }', "doubled key"],
    ["a doubled key in escapes", '{ "version": "1", "posture": "strict", "p\\u006fsture": "standard" }', "doubled key"],
  ])("is noted: %s", ([, text, title]) => {
    const { notes } = readPolicyText(text, undefined);
    expect(notes).toContainEqual(expect.objectContaining({ severity: "error", title }));
    for (const { from, to } of notes) expect(from).toBeLessThanOrEqual(Math.min(to, text.length));
  });

  it("is noted at the line of the rule that never matches", () => {
    const when = { capability: ["fs.read"], host: ["*.example.com"] };
    const text = formatDocument({ ...startPolicy, rules: [{ id: "no-admin", effect: "deny", when, reason: "None." }] });
    const [note] = readPolicyText(text, undefined).notes;
    expect(note).toMatchObject({ severity: "warning", title: "never matching" });
    expect(text.slice(note!.from)).toMatch(/^\{\s+"id": "no-admin"/);
  });

  it("takes every template, also twice", () => {
    for (const { add } of templates) {
      const read = readPolicyText(formatDocument(add(add(startPolicy))), undefined);
      expect(read.notes.filter(({ severity }) => severity === "error")).toEqual([]);
    }
  });
});

describe("merged policies", () => {
  const rule = fc.record({
    id: fc.constantFrom("a", "b", "c"),
    effect: fc.constantFrom("ask", "deny"),
    when: fc.constant({}),
  });
  const policy = fc.record({
    posture: fc.constantFrom("strict", "standard"),
    grants: fc.uniqueArray(fc.record({ tool: fc.constantFrom("x", "y", "z") }), { selector: JSON.stringify }),
    rules: fc.uniqueArray(rule, { selector: ({ id }) => id }),
  });
  const items = (document: JsonObject, name: string): readonly string[] =>
    ((document[name] ?? []) as readonly unknown[]).map((each) => JSON.stringify(each)).sort();

  it("are the other side where one changed nothing", () => {
    fc.assert(
      fc.property(policy, policy, (base, other) => {
        for (const merged of [mergePolicies(base, other, base), mergePolicies(base, base, other)]) {
          expect(merged.conflicts).toEqual([]);
          expect(merged.document["posture"]).toBe(other.posture);
          for (const name of ["grants", "rules"]) expect(items(merged.document, name)).toEqual(items(other, name));
        }
      }),
      { numRuns },
    );
  });

  it("keep no grant that one side took away, and name what both changed", () => {
    fc.assert(
      fc.property(policy, policy, policy, (base, mine, theirs) => {
        const { document, conflicts } = mergePolicies(base, mine, theirs);
        const before = items(base, "grants");
        for (const side of [mine, theirs])
          for (const grant of before.filter((each) => !items(side, "grants").includes(each)))
            expect(items(document, "grants")).not.toContain(grant);
        const isTorn =
          base.posture !== mine.posture && base.posture !== theirs.posture && mine.posture !== theirs.posture;
        expect(conflicts.includes("posture")).toBe(isTorn);
      }),
      { numRuns },
    );
  });
});

describe("the simulation", () => {
  const loaded = (document: PolicyDocument): Policy => {
    const read = policyOf(document);
    if (!read.ok) throw new Error(read.error.message);
    return read.value;
  };
  const manifest = (name: string): ToolManifest => ({
    name,
    version: "1.0.0",
    description: "Fetches.",
    effects: ["net.read"],
    determinism: "external",
    tier: 1,
    source: "module",
    capabilities: [{ kind: "net.read", hosts: ["*"], target: { url: "/url" } }],
    bounds: {},
    input: { type: "object", properties: { url: { type: "string" } } },
    output: { kind: "json" },
  });
  const call = (id: string, url: string, second: number): SessionCall => ({
    id,
    what: url,
    manifest: manifest("http_fetch"),
    input: { url },
    time: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`,
  });
  const grant = { tool: "http_fetch", capability: { kind: "net.read", hosts: ["a.example.com"] } } as const;
  const calls = [call("late", "https://a.example.com/", 2), call("early", "https://b.example.com/", 1)];

  it("says which calls change, the latest first", () => {
    const before = loaded({ version: "1", posture: "standard" });
    const rows = compareOver(before, loaded({ version: "1", posture: "standard", grants: [grant] }), calls);
    expect(rows.map(({ call: { id }, before: was, after }) => [id, was, after])).toEqual([
      ["late", "deny", "allow"],
      ["early", "deny", "deny"],
    ]);
  });

  it("counts the calls that a rule decided and that need a grant", () => {
    const document: PolicyDocument = {
      version: "1",
      posture: "standard",
      grants: [grant, { tool: "other", capability: grant.capability }],
      rules: [
        { id: "asked", effect: "ask", when: { tool: ["http_fetch"] }, reason: "Asked." },
        { id: "never", effect: "deny", when: { tool: ["other"] }, reason: "Never." },
      ],
    };
    const coverage = coverageOf(document, compareOver(loaded(document), loaded(document), calls));
    expect([...coverage.rules]).toEqual([
      ["asked", 1],
      ["never", 0],
    ]);
    expect(coverage.grants).toEqual([1, 0]);
  });
});

describe("a difference of lines", () => {
  it("gives both texts back", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "")).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = lineDiff(before, after);
        const side = (kind: string): string =>
          diff.flatMap((line) => (line.kind === "same" || line.kind === kind ? [line.text] : [])).join("\n");
        expect([side("removed"), side("added")]).toEqual([before, after]);
        const changed = (lines: readonly unknown[]): readonly unknown[] =>
          lines.filter((line) => line !== undefined && (line as { kind: string }).kind !== "same");
        expect(changed(withContext(diff))).toEqual(changed(diff));
      }),
      { numRuns },
    );
  });
});
