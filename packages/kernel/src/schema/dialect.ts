import type { Draft } from "./types.ts";

/** What differs between the drafts, for one schema resource. */
export interface Dialect {
  readonly year: 7 | 2019 | 2020;
  /** False when the resource's meta-schema leaves the validation vocabulary out. */
  readonly validation: boolean;
  /** True when the resource's meta-schema asks for the format-assertion vocabulary. */
  readonly formatAssertion: boolean;
}

const standard = (year: Dialect["year"]): Dialect => ({ year, validation: true, formatAssertion: false });
const DRAFT_7: Dialect = standard(7);
const DRAFT_2020: Dialect = standard(2020);

const KNOWN: ReadonlyMap<unknown, Dialect> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", DRAFT_2020],
  ["https://json-schema.org/draft/2019-09/schema", standard(2019)],
  ["http://json-schema.org/draft-07/schema", DRAFT_7],
  ["http://json-schema.org/draft-06/schema", DRAFT_7],
]);

export function draftDialect(draft: Draft): Dialect {
  return draft === "draft-07" ? DRAFT_7 : DRAFT_2020;
}

/** The dialect that `$schema` names; `metaSchema` looks up own meta-schemas. Undefined when nobody knows it. */
export function findDialect(uri: string, metaSchema: (uri: string) => unknown): Dialect | undefined {
  const bare = uri.replace(/#$/, "");
  const known = KNOWN.get(bare.replace(/^https:(?=.*draft-0)/, "http:"));
  if (known !== undefined) return known;
  const meta = metaSchema(bare);
  if (typeof meta !== "object" || meta === null) return undefined;
  const { $schema, $vocabulary } = meta as { $schema?: unknown; $vocabulary?: unknown };
  // One step only: a meta-schema whose own meta-schema is unknown is not followed further.
  const base = KNOWN.get(typeof $schema === "string" ? $schema.replace(/#$/, "") : "") ?? DRAFT_2020;
  if (typeof $vocabulary !== "object" || $vocabulary === null) return base;
  const names = Object.keys($vocabulary).map((name) => name.slice(name.lastIndexOf("/") + 1));
  return {
    year: base.year,
    validation: names.includes("validation"),
    formatAssertion: names.includes("format-assertion"),
  };
}

/** Where subschemas are: `map` holds schemas by name, `schema` is one schema or an array of them. */
export const SUBSCHEMAS: ReadonlyMap<string, "map" | "schema"> = new Map(
  (
    [
      ["map", "$defs definitions properties patternProperties dependentSchemas dependencies"],
      [
        "schema",
        "additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems propertyNames then unevaluatedItems unevaluatedProperties",
      ],
    ] as const
  ).flatMap(([kind, keywords]) => keywords.split(" ").map((keyword) => [keyword, kind] as const)),
);
