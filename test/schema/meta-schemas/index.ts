import { draft07 } from "./draft-07.ts";
import { draft202012 } from "./draft-2020-12.ts";

/** The official meta-schemas of draft-07 and 2020-12 with its vocabularies, by absolute URI. */
export const metaSchemas: ReadonlyMap<string, unknown> = new Map<string, unknown>([...draft07, ...draft202012]);
