import type { Note } from "../code/notes.ts";
import type { PackAnswer } from "./pack.ts";
import { declare, type Use } from "./uses.ts";

/** Notes at lines of the source: why the packer refuses it, and the access that it uses without a declaration. */
export function notesOf(
  source: string,
  packed: PackAnswer | undefined,
  missing: readonly Use[],
  change: (source: string) => void,
): readonly Note[] {
  const faults = packed?.ok === false ? packed.reason.split("\n").map((reason) => faultNote(source, reason)) : [];
  return [...faults, ...missing.map((use) => useNote(source, use, change))];
}

/** The packer names a place as `(tool.ts:LINE:COLUMN)`. */
function faultNote(source: string, reason: string): Note {
  const [whole = "", line = "1", column = "1"] = /\s*\(tool\.ts:(\d+):(\d+)\)$/.exec(reason) ?? [];
  const from = offsetAt(source, Number(line), Number(column));
  const end = source.indexOf("\n", from);
  const text = reason.slice(0, reason.length - whole.length);
  return { from, to: end === -1 ? source.length : end, severity: "error", title: "cannot be packed", text };
}

function offsetAt(source: string, line: number, column: number): number {
  const lines = source.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(source.length, before + column - 1);
}

function useNote(source: string, { called, kinds, from, to }: Use, change: (source: string) => void): Note {
  const [kind = ""] = kinds;
  const declared = declare(source, kind);
  return {
    from,
    to,
    severity: "warning",
    title: `uses ${kinds.join(" or ")}, not declared`,
    text: `The kernel refuses ${called} here under every policy.`,
    ...(declared !== undefined && { action: { name: `Declare ${kind}`, press: () => change(declared) } }),
  };
}
