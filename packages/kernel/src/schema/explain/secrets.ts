import { spend } from "../budget.ts";
import { type Context, hasKeywords, type Place } from "../context.ts";
import { escapeToken } from "../uri.ts";
import { parts } from "../walk.ts";

/** Adds the paths of all parts of a value that some subschema marks as secret, whether or not it applies in the end. */
export function findSecrets(from: Place, value: unknown, path: string, context: Context, out: Set<string>): void {
  if (!hasKeywords(from)) return;
  spend(1);
  if (from.schema["writeOnly"] === true || from.schema["format"] === "password") out.add(path);
  for (const { place, value: part, token } of parts(context.locate(from), value, context))
    findSecrets(place, part, token === undefined ? path : `${path}/${escapeToken(String(token))}`, context, out);
}
