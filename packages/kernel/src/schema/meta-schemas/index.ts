import { draft07 } from "./draft-07.ts";
import { draft202012 } from "./draft-2020-12.ts";

/**
 * The official meta-schemas of draft-07 and 2020-12 with its vocabularies, by absolute URI: for schemas that refer to
 * them. A subpath of its own, so that no other bundle has 2 KiB of them.
 *
 * @see https://json-schema.org/specification-links
 * @example
 * const schema = { $ref: "https://json-schema.org/draft/2020-12/schema" };
 * const compiled = compileSchema(schema, { resources: metaSchemas });
 * if (compiled.ok) compiled.validator.check({ type: "integer" }); // true
 */
export const metaSchemas: ReadonlyMap<string, unknown> = new Map<string, unknown>([...draft07, ...draft202012]);
