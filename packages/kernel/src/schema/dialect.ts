import { isObject } from "./equal.ts";
import type { Draft, JsonObject } from "./types.ts";

/** The differences between the drafts, for one schema resource. */
export interface Dialect {
  readonly year: 7 | 2019 | 2020;
  /** The keywords of other dialects, which mean nothing here. */
  readonly without?: RegExp | undefined;
  /** True when the resource's meta-schema asks for the format-assertion vocabulary. */
  readonly formatAssertion?: boolean;
}

const DRAFT_7: Dialect = { year: 7, without: /^(\$dynamicRef|dependent[RS]|m..Contains|unevaluated)/ };
const DRAFT_2020: Dialect = { year: 2020 };

/** The validation vocabulary, which a meta-schema may leave out. */
const VALIDATION =
  /^(const|dependentRequired|enum|exclusive.*|m(ax|in).*|multipleOf|pattern|required|type|uniqueItems)$/;

const KNOWN: ReadonlyMap<unknown, Dialect> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", DRAFT_2020],
  ["https://json-schema.org/draft/2019-09/schema", { year: 2019 }],
  ["http://json-schema.org/draft-07/schema", DRAFT_7],
  ["http://json-schema.org/draft-06/schema", DRAFT_7],
]);

export function draftDialect(draft: Draft | undefined): Dialect {
  return draft === "draft-07" ? DRAFT_7 : DRAFT_2020;
}

/** The dialect that `$schema` names; `metaSchema` looks up own meta-schemas. Undefined for an unknown dialect. */
export function findDialect(uri: string, metaSchema: (uri: string) => unknown): Dialect | undefined {
  const bare = uri.replace(/#$/, "");
  const known = KNOWN.get(bare.replace(/^https:(?=.*draft-0)/, "http:"));
  if (known !== undefined) return known;
  const meta = metaSchema(bare);
  if (!isObject(meta)) return undefined;
  const { $schema, $vocabulary } = meta;
  // One step only: the search ends at a meta-schema whose own meta-schema is unknown.
  const base = KNOWN.get(String($schema).replace(/#$/, "")) ?? DRAFT_2020;
  if (base === DRAFT_7 || !isObject($vocabulary)) return base;
  const has = (name: string): boolean => Object.keys($vocabulary).some((each) => each.endsWith(`/${name}`));
  return {
    year: base.year,
    without: has("validation") ? undefined : VALIDATION,
    formatAssertion: has("format-assertion"),
  };
}

/** Draft 7 ignores everything beside `$ref`. */
export const onlyRef = (schema: JsonObject, { year }: Dialect): boolean => year === 7 && schema["$ref"] !== undefined;

/** A schema with those keywords only that mean something in its dialect. */
export function supported(schema: JsonObject, dialect: Dialect): JsonObject {
  const { without } = dialect;
  if (onlyRef(schema, dialect)) return { $ref: schema["$ref"] };
  if (without === undefined || !Object.keys(schema).some((keyword) => without.test(keyword))) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !without.test(keyword)));
}

/** Where subschemas are: `map` holds schemas by name, `schema` is one schema or an array of them. */
export const SUBSCHEMAS: ReadonlyMap<string, "map" | "schema"> = new Map(
  [
    "$defs definitions properties patternProperties dependentSchemas dependencies",
    "additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems propertyNames then unevaluatedItems unevaluatedProperties",
  ].flatMap((keywords, row) => keywords.split(" ").map((keyword) => [keyword, row === 0 ? "map" : "schema"] as const)),
);
