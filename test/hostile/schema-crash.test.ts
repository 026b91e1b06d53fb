import fc from "fast-check";
import { expect, it } from "vitest";
import { compileSchema } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
import { sized } from "../support/size.ts";

const keyword = fc.constantFrom(
  "$schema",
  "$id",
  "$ref",
  "$dynamicRef",
  "$anchor",
  "$dynamicAnchor",
  "$defs",
  "definitions",
  "type",
  "enum",
  "const",
  "minimum",
  "multipleOf",
  "minLength",
  "pattern",
  "format",
  "items",
  "prefixItems",
  "additionalItems",
  "contains",
  "minContains",
  "maxContains",
  "uniqueItems",
  "properties",
  "patternProperties",
  "additionalProperties",
  "propertyNames",
  "required",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedItems",
  "unevaluatedProperties",
  "default",
  "writeOnly",
  "contentEncoding",
  "contentMediaType",
  "__proto__",
  "constructor",
  "a",
);
const leaf = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  1,
  -1,
  0.5,
  "",
  "a",
  "#",
  "#/a",
  "#/$defs/a",
  "#a",
  "a.json#a",
  "http://x/y",
  "object",
  "string",
  "date",
  "^a",
  "(",
  "(a+)+$",
  "http://json-schema.org/draft-07/schema#",
);
const anything = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5, depthSize: "medium" },
    leaf,
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(keyword, tie("any"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any;

/** Nobody's schema: keywords of all drafts with values of all kinds. */
it("no schema and no value throws, and check and validate agree", () => {
  fc.assert(
    fc.property(
      anything,
      fc.array(anything, { minLength: 3, maxLength: 3 }),
      fc.constantFrom("2020-12" as const, "draft-07" as const),
      (schema, values, draft) => {
        const resources = new Map<string, unknown>([
          ["http://x/y", values[0]],
          ["a.json", schema],
        ]);
        const compiled = compileSchema(schema, { draft, resources, explain, defaults: "ignore" });
        if (!compiled.ok) {
          expect(compiled.error.message).not.toBe("");
          return;
        }
        for (const value of values) {
          const result = compiled.validator.validate(value);
          const isRefused = !result.ok && result.errors[0]?.keyword === "json";
          if (!isRefused) expect(result.ok).toBe(compiled.validator.check(value));
          if (!result.ok) expect(result.errors.length).toBeGreaterThan(0);
        }
        const filled = compileSchema(schema, { draft, resources, explain });
        for (const value of values) if (filled.ok) filled.validator.validate(value);
      },
    ),
    { numRuns: sized(400, 3_000), seed: 5 },
  );
});
