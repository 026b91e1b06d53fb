import { readFileSync } from "node:fs";
import { createKernel, type ArgumentCondition, type PolicyRule } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { toolOf } from "../support/kernel.ts";
import { registerAny } from "../support/registered.ts";
import { root, sourcePaths } from "../support/sources.ts";

// A library of the program can extend `Object.prototype`, for example with a method `equals`.

/** Each condition does not hold of the input `{ amount: 5, text: "b/c" }` at its place. */
const conditions: readonly ArgumentCondition[] = [
  { at: "/amount", exists: false },
  { at: "/amount", equals: 6 },
  { at: "/amount", differs: 5 },
  { at: "/amount", in: [6] },
  { at: "/amount", notIn: [5] },
  { at: "/amount", lessThan: 5 },
  { at: "/amount", atMost: 4 },
  { at: "/amount", moreThan: 5 },
  { at: "/amount", atLeast: 6 },
  { at: "/text", startsWith: "c" },
  { at: "/text", endsWith: "b" },
  { at: "/text", contains: "x" },
  { at: "/text", longerThan: 3 },
  { at: "/text", pathIn: ["c/**"] },
  { at: "/text", pathNotIn: ["b/**"] },
  { at: "/host", hostIn: ["a.example.com"] },
  { at: "/host", hostNotIn: ["b.example.com"] },
];
const names = [...new Set(conditions.flatMap(Object.keys)), "rest", "oneOf", "prefix", "path", "kind", "message"];
const input = { amount: 5, text: "b/c", host: "b.example.com" };

async function decisionOf(effect: PolicyRule["effect"], condition: ArgumentCondition): Promise<string> {
  const rules = [{ id: "r", effect, when: { arguments: [condition] }, reason: "r" }] as const;
  const kernel = await createKernel({ policy: { version: "1", posture: "strict", rules } });
  await registerAny(
    kernel,
    toolOf(() => 1, { input: { type: "object" } }),
  );
  const preview = await kernel.preview("subject", input);
  return preview.decision;
}

/** With members that all objects inherit meanwhile. */
async function inherited<Made>(
  inheritedNames: readonly string[],
  value: unknown,
  make: () => Promise<Made>,
): Promise<Made> {
  // oxlint-disable-next-line no-extend-native -- as a library does.
  for (const name of inheritedNames) Object.defineProperty(Object.prototype, name, { value, configurable: true });
  try {
    return await make();
  } finally {
    for (const name of inheritedNames) Reflect.deleteProperty(Object.prototype, name);
  }
}

describe("a condition on an argument", () => {
  it.each(conditions.map((condition) => [Object.keys(condition)[1]!, condition] as const))(
    "%s means the same where every object inherits the others",
    async (own, condition) => {
      for (const effect of ["allow", "deny"] as const) {
        const expected = await decisionOf(effect, condition);
        const others = names.filter((name) => name !== own && name !== "at");
        for (const value of [true, () => true])
          expect(await inherited(others, value, () => decisionOf(effect, condition))).toBe(expected);
      }
    },
  );
});

it("the kernel asks for own members; `in` stands where a foreign object may inherit one", () => {
  const found = sourcePaths("packages/kernel/src").flatMap((path) => {
    const code = readFileSync(root + path, "utf8").replaceAll(/^\s*(?:\*|\/[*/]).*$/gm, "");
    return [...code.matchAll(/"(\w+)" in (?=[a-z])/g)].map(
      ([, name]) => `${path.slice("packages/kernel/src/".length)} ${name}`,
    );
  });
  expect(found).toEqual([
    "audit/sink.ts then",
    "extensions/pure-cache/pure-cache.ts then",
    "schema/adapters/rjsf-errors.ts __errors",
    "tool/manifest-of.ts jsonSchema",
    "tool/manifest-of.ts vendor",
  ]);
});
