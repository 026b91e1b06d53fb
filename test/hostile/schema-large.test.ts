import { compileSchema } from "../../packages/kernel/src/schema/compile-schema.ts";
import { describe, expect, it } from "vitest";
import { explain } from "../../packages/kernel/src/schema/explain/index.ts";
import type { Context, Place } from "../../packages/kernel/src/schema/context.ts";
import type { Explain, ValidationError } from "../../packages/kernel/src/schema/types.ts";

/** Explains, and counts the subschemas that it looks at. */
function counting(): { readonly explain: Explain; readonly looked: () => number } {
  let looked = 0;
  return {
    looked: () => looked,
    explain(place: Place, value: unknown, context: Context, errors: ValidationError[]): void {
      const locate: Context["locate"] = (from) => {
        looked++;
        return context.locate(from);
      };
      explain(place as never, value, { ...context, locate } as never, errors);
    },
  };
}

function refused(schema: object, value: unknown): { readonly looked: number; readonly messages: readonly string[] } {
  const { explain: counted, looked } = counting();
  const compiled = compileSchema(schema, { explain: counted });
  if (!compiled.ok) throw new Error(compiled.error.message);
  const result = compiled.validator.validate(value);
  if (result.ok) throw new Error("it conforms");
  return { looked: looked(), messages: result.errors.map(({ message }) => message) };
}

const named = (count: number, member: (at: number) => unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, member(at)]));

describe("an explanation of a large value", () => {
  const texts = { type: "object", additionalProperties: { type: "string" } };

  it("looks at the first thousand members", () => {
    const last = (count: number): object => named(count, (at) => (at === count - 1 ? 1 : ""));
    expect(refused(texts, last(1_000)).messages).toEqual([expect.stringContaining("/n999: expected a string")]);
    expect(refused(texts, last(1_001)).messages).toEqual([expect.stringContaining("does not conform")]);
    const list = { type: "array", items: { type: "string" } };
    expect(refused(list, [...Array<string>(999).fill(""), 1]).messages).toEqual([
      expect.stringContaining("/999: expected a string"),
    ]);
    expect(refused(list, [...Array<string>(1_000).fill(""), 1]).messages).toEqual([
      expect.stringContaining("does not conform"),
    ]);
  });

  it("costs no more for a hundred thousand distinct names", () => {
    const strict = { type: "object", properties: {}, additionalProperties: false };
    const { looked, messages } = refused(
      strict,
      named(100_000, () => 1),
    );
    expect([looked <= 4_000, messages.length]).toEqual([true, 32]);
    expect(
      refused(
        texts,
        named(100_000, () => 1),
      ).looked,
    ).toBeLessThanOrEqual(4_000);
  });

  it("has an end where large values nest", () => {
    const nested = { type: "object", additionalProperties: texts };
    const value = named(500, (at) => named(500, (inner) => (at + inner === 998 ? 1 : "")));
    const { looked, messages } = refused(nested, value);
    expect([looked <= 40_000, messages]).toEqual([true, [expect.stringContaining("limit")]]);
  });

  it("shows no value of a secret, whichever member has it", () => {
    const secret = { type: "object", additionalProperties: { type: "string", writeOnly: true } };
    const { messages } = refused(
      secret,
      named(1_001, () => ({ pin: "4711" })),
    );
    expect(messages).toHaveLength(32);
    expect(messages.filter((text) => text.includes("4711"))).toEqual([]);
  });
});
