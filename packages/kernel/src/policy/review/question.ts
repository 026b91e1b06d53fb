import { builtInFamilies, type Families } from "../../capability/families/index.ts";
import type { Effect } from "../../capability/capability.ts";
import { isJsonObject, type JsonValue } from "../../json/json.ts";
import { compilePointer } from "../../json/pointer.ts";
import { readVersionedId } from "../../support/tool-names.ts";
import { visible } from "../../support/visible.ts";
import type { ToolManifest } from "../../tool/manifest.ts";
import type { ApprovalRequest } from "../approval/approval.ts";

/** One argument of a call that waits for an approval. */
export interface ArgumentRow {
  readonly name: string;
  /** As JSON, on several lines where it has parts. Invisible characters are in it as they are: see `visible`. */
  readonly text: string;
}

/**
 * The arguments of a call, each in a row of its own, so that no long value pushes another one out of sight. They come in the order of the input.
 * An input that is no object is one row.
 */
export function argumentRows(input: JsonValue): readonly ArgumentRow[] {
  const entries = isJsonObject(input) ? Object.entries(input) : [["The input", input] as const];
  return entries.map(([name, value]) => ({ name, text: JSON.stringify(value, undefined, 2) }));
}

/** Of one target, in characters. */
const mostOfTarget = 120;

/** With an effect a tool can do all of this. First for targets that the arguments name, then for what the grants leave open. */
const verbs: Partial<Record<Effect, readonly [of: string, open: string]>> = {
  "net.read": ["can read from", "can read from the network"],
  "net.write": ["can send to", "can send to the network"],
  "fs.read": ["can read", "can read files"],
  "fs.write": ["can change or delete", "can change or delete files"],
  "kv.read": ["can read the stored", "can read stored values"],
  "kv.write": ["can change or delete the stored", "can change or delete stored values"],
  "db.read": ["can read the database", "can read databases"],
  "db.write": ["can change the database", "can change databases"],
  "process.spawn": ["can run", "can run commands"],
  "browser.page": ["can open in a browser", "can open pages in a browser"],
};

/**
 * The action of a call, as a sentence of visible text: its effects, each with the targets that its arguments name by the tool's own declaration, or with its grants.
 *
 * @param manifest Absent where the tool is not known: then no target is.
 */
export function questionSentence(
  {
    tool: id,
    effects,
    input,
    grants = [],
  }: Pick<ApprovalRequest, "tool" | "effects" | "input"> & Partial<Pick<ApprovalRequest, "grants">>,
  manifest?: Pick<ToolManifest, "capabilities">,
  families: Families = builtInFamilies,
): string {
  const parts = effects.map((effect) => {
    const declared = (manifest?.capabilities ?? []).filter(({ kind }) => kind === effect);
    const targets = targetsOf(declared, input);
    const other = lowerFirst(families.get(effect)?.title ?? visible(effect));
    const known = (Object.hasOwn(verbs, effect) && verbs[effect]) || [other, other];
    const [of, open] = declared.length > 0 && declared.every(onlyRemoves) ? removal : known;
    if (targets.length > 0) return `${of} ${targets.join(", ")}`;
    const granted = grants
      .filter((line) => line.startsWith(`${effect} `))
      .map((line) => shortened(line.slice(effect.length + 1)));
    return granted.length === 0 ? open : `${open} (${granted.join("; ")})`;
  });
  const name = visible(readVersionedId(id).name);
  return parts.length === 0 ? `${name} has no effect outside.` : `${name} ${listed(parts)}.`;
}

/** The gate holds a tool to what it declares. */
const removal = ["deletes", "can delete files"] as const;

function onlyRemoves(declared: Declared): boolean {
  return declared.kind === "fs.write" && declared.operations?.join() === "remove";
}

type Declared = ToolManifest["capabilities"][number];

function targetsOf(declared: readonly Declared[], input: JsonValue): readonly string[] {
  const texts = declared.flatMap(({ target }) =>
    Object.values(target ?? {}).flatMap((pointer) => {
      const value = compilePointer(pointer)(input);
      return typeof value === "string" && value !== "" ? [shortened(value)] : [];
    }),
  );
  return [...new Set(texts)];
}

/** Start and end of a target say more than its start alone. */
function shortened(text: string): string {
  const half = mostOfTarget / 2;
  return visible(text.length <= mostOfTarget ? text : `${text.slice(0, half)} … ${text.slice(-half)}`);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function listed(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join("");
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
