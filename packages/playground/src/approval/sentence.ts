import {
  type ApprovalRequest,
  type JsonValue,
  pointerTokens,
  readVersionedId,
  type ToolSummary,
  visible,
} from "@keyhole/kernel";
import { effectText } from "../app/capability-words.ts";

/** Of one target, in characters. */
const mostOfTarget = 120;

/**
 * The action of the call, as a sentence: its effects, and the targets that its arguments name by the tool's own declaration. Visible text.
 *
 * @param tool absent where the page does not know it: then the sentence names the effects alone
 */
export function sentenceOf(
  { tool: id, effects, input }: Pick<ApprovalRequest, "tool" | "effects" | "input">,
  tool: ToolSummary | undefined,
): string {
  const parts = effects.map((effect) => {
    const targets = targetsOf(effect, input, tool);
    const text = lowerFirst(effectText(effect));
    return targets.length === 0 ? text : `${text} (${targets.join(", ")})`;
  });
  const name = visible(readVersionedId(id).name);
  return parts.length === 0 ? `${name} has no effect outside.` : `${name} ${listed(parts)}.`;
}

function targetsOf(effect: string, input: JsonValue, tool: ToolSummary | undefined): readonly string[] {
  const declared = (tool?.manifest.capabilities ?? []).filter(({ kind }) => kind === effect);
  const texts = declared.flatMap(({ target }) =>
    Object.values(target ?? {}).flatMap((pointer) => {
      const value = valueAt(input, pointer);
      return typeof value === "string" && value !== "" ? [shortened(value)] : [];
    }),
  );
  return [...new Set(texts)];
}

function valueAt(input: JsonValue, pointer: string): unknown {
  let value: unknown = input;
  for (const token of pointerTokens(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, token)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[token];
  }
  return value;
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
