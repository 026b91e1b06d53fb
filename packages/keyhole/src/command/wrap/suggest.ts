import type { JsonObject } from "@keyhole/kernel";
import type { McpEndpoint, McpSource } from "@keyhole/mcp";

/** Lets the tools reach their server, and asks about each call: a tool of a server is in tier 2. */
export function askingPolicy({ capabilities }: McpEndpoint): JsonObject {
  const grants = capabilities.map((capability) => ({ tool: "*", capability }));
  return { version: "1", posture: "standard", grants } as unknown as JsonObject;
}

/** The same, without questions about tools that say they only read. It is for a person to read: a server can say that of any tool. */
export function suggestedPolicy(endpoint: McpEndpoint, source: McpSource, reads: ReadonlySet<string>): JsonObject {
  const tool = source.tools.flatMap(({ name, state }) => (state === "open" && reads.has(name) ? [name] : []));
  if (tool.length === 0) return askingPolicy(endpoint);
  const rule = { id: "reads", effect: "allow", when: { tool }, reason: "The server says that these tools only read." };
  return { ...askingPolicy(endpoint), rules: [rule] };
}
