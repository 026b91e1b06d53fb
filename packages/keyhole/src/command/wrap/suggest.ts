import type { JsonObject, Kernel } from "@keyhole/kernel";
import type { McpEndpoint, McpSource } from "@keyhole/mcp";
import type { CommandResult } from "../io.ts";

export interface Suggested {
  readonly endpoint: McpEndpoint;
  readonly source: McpSource;
}

/** Lets the tools of a kernel that has no others reach their server, and asks about each call but lists: a tool of a server is in tier 2. */
export function askingPolicy({ capabilities }: McpEndpoint): JsonObject {
  return policyOf(capabilities.map((capability) => ({ tool: "*", capability })));
}

/**
 * Prints a policy that lets the tools of each server reach it, and no other tool. It allows without a question the tools that say they only read. It is
 * for a person to read: a server can say that of any tool.
 */
export function suggest(kernel: Kernel, servers: readonly Suggested[]): CommandResult {
  const grants = servers.flatMap(({ endpoint, source }) =>
    toolsOf(kernel, source).flatMap((tool) => endpoint.capabilities.map((capability) => ({ tool, capability }))),
  );
  const policy = policyOf(grants);
  const tool = servers.flatMap(({ source }) => readersOf(kernel, source));
  const rule = { id: "reads", effect: "allow", when: { tool }, reason: "The server says that these tools only read." };
  const suggested = tool.length === 0 ? policy : { ...policy, rules: [rule] };
  return { exitCode: 0, output: `${JSON.stringify(suggested, undefined, 2)}\n` };
}

function policyOf(grants: readonly object[]): JsonObject {
  return { version: "1", posture: "standard", grants } as unknown as JsonObject;
}

/** Its tools, also those that wait for a review, and the requests that it passes on as tools. */
function toolsOf(kernel: Kernel, source: McpSource): readonly string[] {
  const passedOn = kernel.list().filter((tool) => source.methodOf(tool) !== undefined);
  const names = [...source.tools.map(({ name }) => name), ...passedOn.map(({ manifest }) => manifest.name)];
  return [...new Set(names)].sort();
}

function readersOf(kernel: Kernel, source: McpSource): readonly string[] {
  const says = kernel.list().filter((tool) => {
    const annotations: unknown = Reflect.get(source.definitionOf(tool) ?? {}, "annotations");
    return typeof annotations === "object" && annotations !== null && Reflect.get(annotations, "readOnlyHint") === true;
  });
  const reads = new Set(says.map(({ manifest }) => manifest.name));
  return source.tools.flatMap(({ name, state }) => (state === "open" && reads.has(name) ? [name] : []));
}
