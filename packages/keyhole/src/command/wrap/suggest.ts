import type { JsonObject, Kernel } from "@keyhole/kernel";
import type { McpEndpoint, McpSource } from "@keyhole/mcp";
import type { CommandResult } from "../io.ts";

export interface Suggested {
  readonly endpoint: McpEndpoint;
  readonly source: McpSource;
}

/** Lets the tools reach their servers, and asks about each call: a tool of a server is in tier 2. */
export function askingPolicy(endpoints: readonly McpEndpoint[]): JsonObject {
  // Servers of one command need one grant.
  const needed = new Map(
    endpoints.flatMap(({ capabilities }) => capabilities.map((each) => [JSON.stringify(each), each])),
  );
  const grants = [...needed.values()].map((capability) => ({ tool: "*", capability }));
  return { version: "1", posture: "standard", grants } as unknown as JsonObject;
}

/** Prints the same, without questions about tools that say they only read. It is for a person to read: a server can say that of any tool. */
export function suggest(kernel: Kernel, servers: readonly Suggested[]): CommandResult {
  const policy = askingPolicy(servers.map(({ endpoint }) => endpoint));
  const tool = servers.flatMap(({ source }) => readersOf(kernel, source));
  const rule = { id: "reads", effect: "allow", when: { tool }, reason: "The server says that these tools only read." };
  const suggested = tool.length === 0 ? policy : { ...policy, rules: [rule] };
  return { exitCode: 0, output: `${JSON.stringify(suggested, undefined, 2)}\n` };
}

function readersOf(kernel: Kernel, source: McpSource): readonly string[] {
  const says = kernel.list().filter((tool) => {
    const annotations: unknown = Reflect.get(source.definitionOf(tool) ?? {}, "annotations");
    return typeof annotations === "object" && annotations !== null && Reflect.get(annotations, "readOnlyHint") === true;
  });
  const reads = new Set(says.map(({ manifest }) => manifest.name));
  return source.tools.flatMap(({ name, state }) => (state === "open" && reads.has(name) ? [name] : []));
}
