import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contradictions, type Draft, drafts, samples, validatorOf } from "./random-schemas.ts";

interface Recorded {
  readonly draft: Draft;
  readonly schema: unknown;
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

// Written by test/peers/ajv, which asks ajv itself.
const recorded = readFileSync(new URL("ajv-verdicts.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

describe("random schemas and values", () => {
  it("get the recorded verdicts of ajv", () => {
    const wrong = recorded.flatMap(({ draft, schema, valid, invalid }) => {
      const { check } = validatorOf(schema, draft);
      const items = [...valid.filter((item) => !check(item)), ...invalid.filter(check)];
      return items.map((item) => JSON.stringify({ draft, schema, item }));
    });
    expect(wrong).toEqual([]);
    expect(recorded.flatMap(({ valid }) => valid).length).toBeGreaterThan(400);
    expect(recorded.flatMap(({ invalid }) => invalid).length).toBeGreaterThan(400);
  });

  it.each(drafts)("%s: validate says the same as check, and explains each refusal", (draft) => {
    const wrong = samples(draft, 200, 20_260_131, 10).flatMap(([schema, values]) => {
      const validator = validatorOf(schema, draft);
      return values.flatMap((item) =>
        contradictions(validator, item).map((fault) => JSON.stringify({ fault, schema, item })),
      );
    });
    expect(wrong).toEqual([]);
  });
});
