import { builtInFamilies, type Families } from "../../capability/families/index.ts";
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

/**
 * The action of a call, as a sentence of visible text: its effects, and the targets that its arguments name by the tool's own declaration.
 *
 * @param manifest Absent where the tool is not known: then the sentence names the effects alone.
 */
export function questionSentence(
  { tool: id, effects, input }: Pick<ApprovalRequest, "tool" | "effects" | "input">,
  manifest?: Pick<ToolManifest, "capabilities">,
  families: Families = builtInFamilies,
): string {
  const parts = effects.map((effect) => {
    const targets = targetsOf(effect, input, manifest);
    const text = lowerFirst(families.get(effect)?.title ?? visible(effect));
    return targets.length === 0 ? text : `${text} (${targets.join(", ")})`;
  });
  const name = visible(readVersionedId(id).name);
  return parts.length === 0 ? `${name} has no effect outside.` : `${name} ${listed(parts)}.`;
}

function targetsOf(
  effect: string,
  input: JsonValue,
  manifest: Pick<ToolManifest, "capabilities"> | undefined,
): readonly string[] {
  const declared = (manifest?.capabilities ?? []).filter(({ kind }) => kind === effect);
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
