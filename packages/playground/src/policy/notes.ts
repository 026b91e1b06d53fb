import { policy as policyOf, pointerTokens, type Policy, type PolicyDocument, type SetupError } from "@keyhole/kernel";
import { type JsonPlaces, jsonPlaces } from "@keyhole/kernel/foreign";
import { type Finding, lintPolicy } from "@keyhole/kernel/policy";
import type { Note } from "../code/notes.ts";

/** A text of a policy, read. */
export interface PolicyText {
  /** Places in `document` are places in this text: a person may have typed more since. */
  readonly text: string;
  readonly notes: readonly Note[];
  /** Absent where the text is no policy. */
  readonly policy: Policy | undefined;
  readonly document: PolicyDocument | undefined;
}

/** @param tools names of all tools; `undefined` where they are not known */
export function readPolicyText(text: string, tools: readonly string[] | undefined): PolicyText {
  const places = jsonPlaces(text);
  const doubled = doubledKeys(text, places);
  let foreign: unknown;
  try {
    foreign = JSON.parse(text);
  } catch (error) {
    return { text, notes: [syntaxNote(text, places, error), ...doubled], policy: undefined, document: undefined };
  }
  const loaded = policyOf(foreign);
  if (!loaded.ok)
    return { text, notes: [refusalNote(text, loaded.error), ...doubled], policy: undefined, document: undefined };
  const { value: policy } = loaded;
  const findings = lintPolicy(policy, tools).map((finding) => findingNote(text, policy, finding));
  return { text, notes: [...doubled, ...findings], policy, document: policy.document };
}

/** Why the kernel refused the document, at its place. */
export function refusalNote(text: string, { path, message, hint }: SetupError): Note {
  return {
    ...lineAt(text, offsetOf(text, path)),
    severity: "error",
    title: "refused",
    text: `${message} ${hint}`.trim(),
  };
}

function syntaxNote(text: string, { stop }: JsonPlaces, error: unknown): Note {
  const message = error instanceof Error ? error.message : String(error);
  return { ...lineAt(text, stop?.at ?? text.length), severity: "error", title: "not JSON", text: message };
}

/** The last of two equal keys counts, and only people read the first one. */
function doubledKeys(text: string, { places }: JsonPlaces): readonly Note[] {
  const doubled = places.filter(({ isRepeated }) => isRepeated);
  return doubled.map(({ pointer, start, value }) => {
    const said = `The key ${JSON.stringify(pointerTokens(pointer).at(-1))} stands twice in this object. Only the last one counts. Remove one.`;
    return { from: start, to: value, severity: "error", title: "doubled key", text: said };
  });
}

function findingNote(text: string, { document }: Policy, { kind, ruleId, message }: Finding): Note {
  const index = (document.rules ?? []).findIndex(({ id }) => id === ruleId);
  const place = lineAt(text, offsetOf(text, `/rules/${index}`));
  return { ...place, severity: "warning", title: kind.replace("-", " "), text: `${ruleId}: ${message}` };
}

/** Where a JSON Pointer leads in the text. */
export function offsetOf(text: string, pointer: string): number {
  return jsonPlaces(text).startOf(pointer);
}
/** From an offset to the end of its line. */
function lineAt(text: string, from: number): Pick<Note, "from" | "to"> {
  const end = text.indexOf("\n", from);
  return { from, to: end === -1 ? text.length : end };
}
