import { type ApprovalRequest, type McpTool, visible } from "@keyhole/kernel";
import { visibleJson } from "@keyhole/kernel/foreign-tools";

/*
 * A client shows these texts to a person, beside an address that the person trusts. A tool wrote parts of them.
 */

/** A question as one line. The tool's id comes first, and its own words stand in quotes. */
export function questionText({ tool, caller, title, reason }: ApprovalRequest): string {
  const [id, by, why] = [tool, caller, reason].map((text) => visibleJson(text).slice(1, -1));
  return `${id} waits for your approval. The caller is ${by}. The tool's title is ${visibleJson(title)}. ${why}`;
}

/** A definition whose title hides no character. */
export function withVisibleTitle(definition: McpTool): McpTool {
  const { title } = definition;
  return title === undefined ? definition : { ...definition, title: visible(title) };
}
