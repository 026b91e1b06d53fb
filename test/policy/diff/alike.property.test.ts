import { type ArgumentCondition, type JsonValue, policy, type Policy, type PolicyDocument } from "@keyhole/kernel";
import { diffPolicies } from "@keyhole/kernel/policy";
import fc from "fast-check";
import { expect, it } from "vitest";
import { decideDraft, type Draft, levelOf, mildest } from "../../../packages/kernel/src/policy/review/diff/draft.ts";
import { sized } from "../../support/size.ts";

/*
 * Small policies that say much of one argument, or of one path, and every call of a list. The list is made here, not by what is tested.
 */

const values: readonly JsonValue[] = [
  1,
  10,
  5,
  true,
  null,
  "",
  "1",
  "10",
  "1.0",
  "10x",
  "true",
  "a",
  "A",
  "ab",
  "AB",
  "aXb",
  "a\u00ad",
  "1\u00ad",
  "ａ",
  "a.txt",
  "x/a.txt",
  "x/y/a.txt",
  "x/y/z/a.txt",
  "x/A.txt",
  "X",
  "x/../a.txt",
  "./a",
  "a/../1",
  "x／a.txt",
  "a b",
  [],
  ["a"],
  ["1"],
  [1],
  ["a", "b"],
  ["A", 1],
  {},
  { a: 1 },
  { a: "1" },
  { A: 1 },
];
const paths = values.filter(
  (each) => typeof each === "string" && /^[^.\\]*(?:\.txt)?$/.test(each) && each !== "",
) as string[];

const globs = ["**", "*", "a", "1", "a.txt", "*.txt", "*/a.txt", "**/a.txt", "*/*/a.txt", "x/**", "x/**/a.txt", "x/*"];
const texts = ["./", "/", "1", "10", "true", "a", "A", "ab", "b"];
const some = <T>(all: readonly T[]): fc.Arbitrary<T[]> =>
  fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: 3 });
const known = fc.constantFrom<JsonValue>(...values.filter((each) => JSON.stringify(each).length < 8));
const number = fc.constantFrom(0, 1, 2, 3, 5, 10);

const condition: fc.Arbitrary<ArgumentCondition> = fc
  .oneof<fc.Arbitrary<object>[]>(
    known.map((equals) => ({ equals })),
    known.map((differs) => ({ differs })),
    fc.array(known, { minLength: 1, maxLength: 3 }).map((each) => ({ in: each })),
    fc.array(known, { minLength: 1, maxLength: 3 }).map((notIn) => ({ notIn })),
    fc.boolean().map((exists) => ({ exists })),
    number.map((lessThan) => ({ lessThan })),
    number.map((atLeast) => ({ atLeast })),
    number.map((longerThan) => ({ longerThan })),
    fc.constantFrom(...texts).map((startsWith) => ({ startsWith })),
    fc.constantFrom(...texts).map((endsWith) => ({ endsWith })),
    fc.constantFrom(...texts).map((contains) => ({ contains })),
    some(globs).map((pathIn) => ({ pathIn })),
    some(globs).map((pathNotIn) => ({ pathNotIn })),
  )
  .map((each) => ({ at: "/a", ...each }) as ArgumentCondition);

const conditions = fc.array(condition, { minLength: 1, maxLength: 3 });
const effect = fc.constantFrom("allow" as const, "ask" as const, "deny" as const);
type Rule = NonNullable<PolicyDocument["rules"]>[number];
const ruleOf = (id: string): fc.Arbitrary<Rule> =>
  fc
    .record({ effect, when: conditions.map((each) => ({ arguments: each })), reason: fc.constant("x") })
    .map((each) => ({ id, ...each }));

const ofArguments = fc.tuple(ruleOf("a"), ruleOf("b"), conditions, fc.boolean()).map(([one, two, others, isMore]) => {
  const all = one.when.arguments ?? [];
  const changed = { ...one, when: { arguments: isMore ? [...all, ...others] : others } };
  return [
    [one, two],
    [changed, two],
  ].map((rules): PolicyDocument => ({ version: "1", posture: "standard", rules }));
});

const grant = some(globs).map((each) => ({ tool: "*", capability: { kind: "fs.read" as const, paths: each } }));
const granted = fc.record({
  grants: fc.array(grant, { minLength: 1, maxLength: 2 }),
  deny: fc.option(some(globs), { nil: undefined }),
});
const ofPaths = fc.tuple(granted, granted, fc.boolean()).map(([one, two, isSameGrant]) =>
  [one, isSameGrant ? { ...two, grants: one.grants } : { ...two, deny: one.deny }].map(
    ({ grants, deny }): PolicyDocument => ({
      version: "1",
      posture: "permissive",
      grants,
      ...(deny && { rules: [{ id: "d", effect: "deny", when: { path: deny }, reason: "x" }] }),
    }),
  ),
);

/** Two conditions on one text, beside a rule of both policies that denies every other value: an error of the rule. */
const words = ["x", "a", "x/", "/a", "./a", "aX", "7", "-x"];
const onText: fc.Arbitrary<ArgumentCondition> = fc
  .tuple(
    fc.constantFrom<(text: string) => object>(
      (startsWith) => ({ startsWith }),
      (endsWith) => ({ endsWith }),
      (contains) => ({ contains }),
      (equals) => ({ equals }),
      (text) => ({ in: [text, `${text}b`] }),
      (glob) => ({ pathIn: [`${glob.replace(/^[./]+/, "")}*`.replace("/*", "/**")] }),
    ),
    fc.constantFrom(...words),
  )
  .map(([make, text]) => ({ at: "/a", ...make(text) }) as ArgumentCondition);
const textRule = (id: string): fc.Arbitrary<Rule> =>
  fc
    .record({ effect, when: fc.array(onText, { minLength: 1, maxLength: 2 }), reason: fc.constant("x") })
    .map(({ when, ...each }) => ({ id, ...each, when: { arguments: when } }));
const others: Rule = {
  id: "others",
  effect: "deny",
  when: { arguments: [{ at: "/a", startsWith: "~~" }] },
  reason: "x",
};
const ofReadings = fc
  .tuple(textRule("a"), textRule("b"), fc.constantFrom<PolicyDocument["posture"]>("strict", "standard", "permissive"))
  .map(([one, two, posture]) =>
    [
      [one, two, others],
      [two, others],
    ].map((rules): PolicyDocument => ({ version: "1", posture, rules })),
  );

const asCalls = (list: readonly JsonValue[]): readonly Draft[] => [
  { ...mildest, tier: 2 },
  ...list.map((value): Draft => ({ ...mildest, tier: 2, arguments: new Map([["/a", value]]) })),
];
const calls = asCalls(values);
/** Texts that a reader of places takes for another one, too. */
const placed = words.flatMap((one) =>
  words.flatMap((two) => [
    ...["", "b", "q"].flatMap((end) => [`${one}${end}/../${two}`, `${one}${end}/../${two}b`]),
    `/${one}#/../${two}`,
    `${one}${two}`,
    `${one}~${two}`,
    `${one.toUpperCase()}${two}`,
  ]),
);
const placedCalls = asCalls([...words, ...placed]);
const requests: readonly Draft[] = paths.map((path) => {
  const request = { kind: "fs.read", path };
  return { ...mildest, request };
});

function policyOf(document: PolicyDocument): Policy {
  const loaded = policy(document);
  if (!loaded.ok) throw new TypeError(`${loaded.error.path}: ${loaded.error.message}`);
  return loaded.value;
}

it.each([
  ["an argument", ofArguments, calls],
  ["several readings of an argument", ofReadings, placedCalls],
  ["a path", ofPaths, requests],
] as const)(
  "policies about %s that the comparison calls alike decide no call otherwise",
  (_, pairs, list) => {
    const seen = { alike: 0, capped: 0, differing: 0 };
    fc.assert(
      fc.property(pairs, (documents) => {
        const [a, b] = documents.map(policyOf) as [Policy, Policy];
        const { differs, capped } = diffPolicies(a, b);
        if (capped.length > 0) return void seen.capped++;
        if (differs) return void seen.differing++;
        seen.alike++;
        for (const call of list)
          expect(levelOf(decideDraft(a, call)), JSON.stringify([...call.arguments, call.request])).toBe(
            levelOf(decideDraft(b, call)),
          );
      }),
      { numRuns: sized(25, 5_000), seed: 7 },
    );
    expect(seen.alike).toBeGreaterThan(0);
  },
  sized(60_000, 1_800_000),
);
