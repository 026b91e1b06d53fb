import type { McpServer } from "@modelcontextprotocol/server";

export type ChangedList = "tools" | "prompts" | "resources";

/** @returns rejects for a connection that is about to end, or has not begun */
export async function tellOf(list: ChangedList, { server }: McpServer): Promise<void> {
  const has = server.getCapabilities();
  if (list === "tools") await server.sendToolListChanged();
  else if (list === "prompts" && has.prompts) await server.sendPromptListChanged();
  else if (list === "resources" && has.resources) await server.sendResourceListChanged();
}
