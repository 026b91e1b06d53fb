import { spend } from "../budget.ts";
import { type Context, hasKeywords, type Place } from "../context.ts";
import { escapeToken } from "../../json/pointer.ts";
import { explainedParts } from "../walk.ts";

/**
 * Adds the path of each explainable part of a value that some subschema marks as secret, whether or
 * not that subschema applies in the end.
 */
export function findSecrets(from: Place, value: unknown, path: string, context: Context, out: Set<string>): void {
  if (!hasKeywords(from)) return;
  spend(1);
  if (from.schema["writeOnly"] === true || from.schema["format"] === "password") out.add(path);
  for (const { place, value: part, token } of explainedParts(context.locate(from), value, context))
    findSecrets(place, part, token === undefined ? path : `${path}/${escapeToken(String(token))}`, context, out);
}

/** Whether a path is one of `secrets`, or leads to a part of one. */
export function isSecret(path: string, secrets: ReadonlySet<string>): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1))
    if (secrets.has(path.slice(0, end))) return true;
  return secrets.has("");
}
