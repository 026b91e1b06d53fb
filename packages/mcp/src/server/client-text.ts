import { type ApprovalRequest, type McpTool, visible } from "@keyhole/kernel";
import { visibleJson } from "@keyhole/kernel/foreign-tools";
import { isRecord } from "../message.ts";

/*
 * A client shows these texts to a person, beside an address that the person trusts. A tool wrote parts of them.
 */

/** A question as one line. The tool's id comes first, and its own words stand in quotes. */
export function questionText({ tool, caller, title, reason }: ApprovalRequest): string {
  const [id, by, why] = [tool, caller, reason].map((text) => visibleJson(text).slice(1, -1));
  return `${id} waits for your approval. The caller is ${by}. The tool's title is ${visibleJson(title)}. ${why}`;
}

/** A definition whose titles hide no character. */
export function withVisibleTitle(definition: McpTool): McpTool {
  const { title, annotations } = definition;
  if (title === undefined && annotations?.title === undefined) return definition;
  return {
    ...definition,
    ...(title !== undefined && { title: visible(title) }),
    ...(annotations?.title !== undefined && { annotations: { ...annotations, title: visible(annotations.title) } }),
  };
}

/** The texts of a list's entries that a client shows. A prompt is asked for by its name, which the source pinned. */
const shownIn = {
  prompts: ["title", "description"],
  resources: ["title", "description", "name"],
  resourceTemplates: ["title", "description", "name"],
} as const satisfies Record<string, readonly string[]>;

/** A result whose lists of prompts and resources hide no character. */
export function withVisibleLists(result: object): object {
  const shown = Object.entries(shownIn).flatMap(([list, names]) => {
    const entries: unknown = Reflect.get(result, list);
    return Array.isArray(entries) ? [[list, entries.map((entry: unknown) => withVisible(entry, names))] as const] : [];
  });
  return { ...result, ...Object.fromEntries(shown) };
}

function withVisible(entry: unknown, names: readonly string[]): unknown {
  if (!isRecord(entry)) return entry;
  const shown = Object.entries(entry).map(
    ([name, value]) => [name, typeof value === "string" && names.includes(name) ? visible(value) : value] as const,
  );
  return Object.fromEntries<unknown>(shown);
}
