import { isObject } from "../form/schema.ts";
import type { JsonObject, JsonValue } from "@keyhole/kernel";
import { type EvidenceFile, readEvidence } from "@keyhole/kernel/policy";

export const members = ["proof", "keys", "events", "policy", "tool", "input"] as const;
export type Member = (typeof members)[number];

export type Given = Readonly<Record<Member, string>>;

export type ReadGiven =
  | { readonly ok: true; readonly value: EvidenceFile }
  | { readonly ok: false; readonly member: Member; readonly message: string };

/** What a person pasted or chose, as evidence. A field of its own takes the place of what the proof's file says. */
export function readGiven(given: Given): ReadGiven {
  let whole: JsonObject = {};
  for (const member of members) {
    const text = given[member].trim();
    if (text === "") continue;
    const parsed = member === "events" && !text.startsWith("[") ? parseLines(text) : parse(text);
    if (!parsed.ok) return { ok: false, member, message: parsed.message };
    const { value } = parsed;
    if (member === "proof") whole = isObject(value) && isObject(value["proof"]) ? value : { proof: value };
    else whole = { ...whole, [member]: value };
  }
  if (!Object.hasOwn(whole, "proof"))
    return { ok: false, member: "proof", message: "Paste a proof, or choose a file with one." };
  const read = readEvidence(whole);
  if (read.ok) return read;
  const member = members.find((each) => each === read.member) ?? "proof";
  return { ok: false, member, message: read.message };
}

type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly message: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { ok: false, message: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** JSON Lines: one event a line. */
function parseLines(text: string): Parsed {
  const events: JsonValue[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const parsed = parse(line);
    if (!parsed.ok) return { ok: false, message: `Line ${index + 1}. ${parsed.message}` };
    events.push(parsed.value);
  }
  return { ok: true, value: events };
}
