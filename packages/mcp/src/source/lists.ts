import { type Client, type RequestOptions, specTypeSchemas } from "@modelcontextprotocol/client";
import { isRecord } from "../message.ts";

/** A list has at most 1,000 entries. So a page of more lists than that has none. */
const MOST_PAGES = 1_000;

/** The SDK's schema of a whole list refuses it for one entry. */
const anyResult = {
  "~standard": { version: 1, vendor: "keyhole", validate: (value: unknown) => ({ value }) },
} as const;

/** Reads all entries of a list, each as it came. @throws Error for a list that is none, or without end */
export async function entriesOf(
  client: Client,
  list: "tools" | "prompts",
  options: RequestOptions = {},
): Promise<readonly unknown[]> {
  if (!client.getServerCapabilities()?.[list]) return [];
  const entries: unknown[] = [];
  let cursor: string | undefined;
  let before = "";
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result: unknown = await client.request({ method: `${list}/list`, params }, anyResult, options);
    const { [list]: more, nextCursor } = isRecord(result) ? result : {};
    if (!Array.isArray(more)) throw new Error(`The server's list has no \`${list}\`.`);
    const text = JSON.stringify(more);
    // Some servers repeat their last page for ever.
    if (cursor !== undefined && nextCursor === cursor && text === before) return entries;
    entries.push(...(more as readonly unknown[]));
    if (typeof nextCursor !== "string" || nextCursor === "") return entries;
    [cursor, before] = [nextCursor, text];
    if (entries.length > MOST_PAGES) break;
  }
  throw new RangeError(`The server lists more than ${MOST_PAGES} ${list}, or pages.`);
}

/** Says why an entry is no definition of MCP. */
export const definitionFault =
  (type: "Tool" | "Prompt") =>
  (entry: unknown): string | undefined => {
    const [issue] = specTypeSchemas[type]["~standard"].validate(entry).issues ?? [];
    if (!issue) return undefined;
    const path = issue.path?.map((step) => `/${String(typeof step === "object" ? step.key : step)}`).join("") ?? "";
    return `${path}: ${issue.message}`;
  };
