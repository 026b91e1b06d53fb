import { membersOf } from "./docstrings.ts";
import { code, membersTable, page, row } from "./markdown.ts";

const events = "packages/kernel/src/audit/event.ts";

export function eventsPage(): string {
  const payloads = membersOf(events, "AuditPayloads").flatMap(({ name, type, text, members }) => [
    `## ${name}`,
    "",
    ...(text === "" ? [] : [text, ""]),
    ...(members.length > 0 ? membersTable(members) : [`Payload: ${code(type)}`, ""]),
  ]);
  return page(
    "Events",
    "For readers of a log: each type of event, and the members of its payload.",
    `the docstrings of \`${events}\``,
    ["## Members of every event", "", ...membersTable(membersOf(events, "AuditEventOf")), ...payloads],
  );
}

/** Options that a program passes, by the function that takes them. */
const hosts = [
  ["nodeHost", "packages/worker-host/src/node/host.ts", "NodeHostOptions"],
  ["browserHost", "packages/worker-host/src/browser/host.ts", "BrowserHostOptions"],
  ["edgeHost", "packages/edge/src/isolate/host.ts", "EdgeHostOptions"],
  ["netBroker", "packages/worker-host/src/brokers/net.ts", "NetBrokerOptions"],
  ["dbBroker", "packages/worker-host/src/brokers/db.ts", "DbBrokerOptions"],
  ["spawnBroker", "packages/worker-host/src/node/spawn.ts", "SpawnBrokerOptions"],
  ["fileSink", "packages/worker-host/src/node/file-sink.ts", "FileSinkOptions"],
  ["indexedDbSink", "packages/worker-host/src/sinks/indexeddb.ts", "IndexedDbSinkOptions"],
  ["environmentSecrets", "packages/worker-host/src/node/secrets.ts", "EnvironmentSecretsOptions"],
  ["connectKernel", "packages/worker-host/src/browser/connect-kernel.ts", "ConnectOptions"],
  ["connectEdge", "packages/worker-host/src/edge/connect-edge.ts", "EdgeOptions"],
  ["withBrowser", "packages/worker-host/src/node/browser/broker.ts", "BrowserBrokerOptions"],
  ["callSuspender", "packages/kernel/src/call/suspension/suspender.ts", "SuspenderOptions"],
  ["KernelObject", "packages/edge/src/object/kernel-object.ts", "KernelObjectOptions"],
  ["Edge settings", "packages/edge/src/env.ts", "Env"],
  ["mcpServer", "packages/mcp/src/server/options.ts", "McpServerOptions"],
  ["mcpHandler", "packages/mcp/src/server/http.ts", "McpHandlerOptions"],
  ["oauthTokens", "packages/mcp/src/server/oauth.ts", "CommonOptions"],
  ["mcpSource", "packages/mcp/src/source/options.ts", "McpSourceOptions"],
  ["Bounds of a source", "packages/kernel/src/foreign-tools/foreign-tool.ts", "ForeignBounds"],
  ["Agent adapters", "packages/agents/src/agent-tools.ts", "AgentOptions"],
  ["Context budget", "packages/kernel/src/surface/context/budget.ts", "ContextBudget"],
] as const;

export function hostsPage(): string {
  const lines = hosts.flatMap(([name, path, type]) => [
    `## ${name}`,
    "",
    ...membersTable(membersOf(path, type), "Option"),
  ]);
  const contents = hosts.map(([name, path]) =>
    row(`[${name}](#${name.toLowerCase().replaceAll(" ", "-")})`, `\`${path}\``),
  );
  return page(
    "Hosts, brokers, sinks",
    "For programs that put a kernel together: the options of each part.",
    "the docstrings of the packages",
    [row("Part", "Source"), row("---", "---"), ...contents, "", ...lines],
  );
}
