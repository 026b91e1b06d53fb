import {
  type Capability,
  type GrantRule,
  policy,
  type Policy,
  type PolicyDocument,
  type PolicyRule,
} from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideDraft, type Draft, levelOf, mildest } from "../../../packages/kernel/src/policy/review/diff/draft.ts";
import { leafOf } from "../../../packages/kernel/src/policy/review/diff/graph.ts";
import { search } from "../../../packages/kernel/src/policy/review/diff/search.ts";
import { wordsFrom } from "../../support/random.ts";
import { sized } from "../../support/size.ts";
import { pairs, randomCall } from "./random-policies.ts";

function policyOf(document: PolicyDocument): Policy {
  const loaded = policy(document);
  if (!loaded.ok) throw new TypeError(`${loaded.error.path}: ${loaded.error.message}`);
  return loaded.value;
}

const levels = (a: Policy, b: Policy, call: Draft) =>
  [levelOf(decideDraft(a, call)), levelOf(decideDraft(b, call))] as const;

/** Of 100 pairs and 100,000 calls each in full, so that a part can run alone. */
const parts = sized(1, 100);

describe("the difference of two policies", () => {
  it.each(Array.from({ length: parts }, (_, at) => at + 1))(
    `covers every random call that differs, and gives no example that does not, part %i of ${parts}`,
    (part) => {
      const seen = { pairs: 0, differing: 0, capped: 0, missed: 0 };
      fc.assert(
        fc.property(pairs, fc.integer(), (documents, seed) => {
          const [a, b] = documents.map(policyOf) as [Policy, Policy];
          const { root, leaves, capped } = search(a, b, 10_000_000);
          seen.pairs++;
          for (const { found } of leaves)
            for (const { draft } of found.values()) expect(levels(a, b, draft)[0]).not.toBe(levels(a, b, draft)[1]);
          const words = wordsFrom(seed >>> 0);
          for (let at = 0; at < sized(60, 1_000); at++) {
            const call = randomCall((below) => words() % below, documents);
            const [ofA, ofB] = levels(a, b, call);
            if (ofA === ofB) continue;
            seen.differing++;
            if ((leafOf(root, call)?.found.size ?? 0) > 0) continue;
            // It says itself that it may have missed some.
            seen.missed++;
            expect(
              [...capped.keys()],
              JSON.stringify({
                ofA,
                ofB,
                call: { ...call, arguments: [...call.arguments], labels: [...call.labels], kinds: [...call.kinds] },
              }),
            ).not.toEqual([]);
          }
          if (capped.size > 0) seen.capped++;
        }),
        { numRuns: sized(8, 100), seed: 20 + part },
      );
      expect(seen.differing).toBeGreaterThan(seen.pairs);
      expect(seen.capped).toBeLessThan(seen.pairs / 20);
    },
    sized(120_000, 1_800_000),
  );
});

/** A request is more than its kind. */
const requestOf = <Request extends NonNullable<Draft["request"]>>(request: Request): Request => request;
const posture = { version: "1", posture: "permissive", labels: {} } as const;
const rule = (when: PolicyRule["when"]): readonly PolicyRule[] => [{ id: "r", effect: "deny", when, reason: "x" }];
const grant = (tool: string, capability: Capability): GrantRule => ({ tool, capability });
const files = (path: string): GrantRule => grant("pay", { kind: "fs.write", paths: [path] });
const key = grant("pay", { kind: "kv.read", keys: ["a"] });

it.each<[string, PolicyDocument, PolicyDocument, Partial<Draft>]>([
  [
    "a path of which a deny alone reads the letters as its own",
    { ...posture, grants: [files("**/*.md")] },
    { ...posture, grants: [files("a/**")], rules: rule({ path: ["a/**"] }) },
    { request: requestOf({ kind: "fs.write", path: "A/b.md" }) },
  ],
  [
    "a path with the letters of one grant, which only a deny reads as those of a rule",
    { ...posture, grants: [grant("*", { kind: "fs.write", paths: ["**/*.md", "a/**"] })] },
    {
      ...posture,
      grants: [grant("*", { kind: "fs.write", paths: ["a/**"] })],
      rules: rule({ path: ["a/b.md"] }),
    },
    { request: requestOf({ kind: "fs.write", path: "A/B.md" }) },
  ],
  [
    "a request beside the kind that a tool declares",
    { ...posture, grants: [key], rules: rule({ capability: ["net.read"] }) },
    {
      ...posture,
      grants: [key, grant("*", { kind: "net.read", hosts: ["a.example"] })],
      rules: rule({ capability: ["net.read"] }),
    },
    { request: requestOf({ kind: "kv.read", key: "a" }), kinds: new Map([["net.read", "declared"]]) },
  ],
  [
    "a counter behind a condition that can err",
    { ...posture, rules: rule({ tool: ["pay"] }) },
    {
      ...posture,
      rules: rule({
        tool: ["pay"],
        arguments: [{ at: "/note", contains: "a" }],
        count: { windowMs: 1_000, moreThan: 3 },
      }),
    },
    { arguments: new Map([["/note", "a"]]) },
  ],
])("the comparison covers %s", (_, documentA, documentB, part) => {
  const [a, b] = [policyOf(documentA), policyOf(documentB)];
  const call: Draft = { ...mildest, tool: "pay", ...part };
  const [ofA, ofB] = levels(a, b, call);
  expect(ofA).not.toBe(ofB);
  expect(leafOf(search(a, b, 1_000_000).root, call)?.found.size).toBeGreaterThan(0);
});
