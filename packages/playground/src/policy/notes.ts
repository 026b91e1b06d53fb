import { jsonLanguage } from "@codemirror/lang-json";
import { loadPolicy, type Policy, type PolicyDocument, type SetupError } from "@keyhole/kernel";
import { type Finding, lintPolicy, locate } from "@keyhole/kernel/policy";
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
  const doubled = doubledKeys(text);
  let foreign: unknown;
  try {
    foreign = JSON.parse(text);
  } catch (error) {
    return { text, notes: [syntaxNote(text, error), ...doubled], policy: undefined, document: undefined };
  }
  const loaded = loadPolicy(foreign);
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

function syntaxNote(text: string, error: unknown): Note {
  let at = text.length;
  jsonLanguage.parser.parse(text).iterate({
    enter({ type, from }) {
      if (type.isError) at = Math.min(at, from);
    },
  });
  const message = error instanceof Error ? error.message : String(error);
  return { ...lineAt(text, at), severity: "error", title: "not JSON", text: message };
}

/** The last of two equal keys counts, and only people read the first one. */
function doubledKeys(text: string): readonly Note[] {
  const notes: Note[] = [];
  const open: Map<string, number>[] = [];
  jsonLanguage.parser.parse(text).iterate({
    enter({ name, from, to }) {
      if (name === "Object") open.push(new Map());
      if (name !== "PropertyName") return;
      const key = keyOf(text.slice(from, to));
      const known = open.at(-1);
      if (known?.has(key)) {
        const said = `The key ${JSON.stringify(key)} stands twice in this object. Only the last one counts. Remove one.`;
        notes.push({ from, to, severity: "error", title: "doubled key", text: said });
      }
      known?.set(key, from);
    },
    leave({ name }) {
      if (name === "Object") open.pop();
    },
  });
  return notes;
}

function keyOf(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function findingNote(text: string, { document }: Policy, { kind, ruleId, message }: Finding): Note {
  const index = (document.rules ?? []).findIndex(({ id }) => id === ruleId);
  const place = lineAt(text, offsetOf(text, `/rules/${index}`));
  return { ...place, severity: "warning", title: kind.replace("-", " "), text: `${ruleId}: ${message}` };
}

/** Where a JSON Pointer leads in the text. */
export function offsetOf(text: string, pointer: string): number {
  const { line, column } = locate(text, pointer);
  let start = 0;
  for (let at = 1; at < line; at++) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}

/** From an offset to the end of its line. */
function lineAt(text: string, from: number): Pick<Note, "from" | "to"> {
  const end = text.indexOf("\n", from);
  return { from, to: end === -1 ? text.length : end };
}
