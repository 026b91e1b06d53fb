import type { Clock, McpTool, Tier, ToolSummary } from "@keyhole/kernel";
import type { LoggingLevel } from "@modelcontextprotocol/client";
import type { McpEra } from "./connection.ts";
import type { DefinitionDifference } from "./difference.ts";
import type { McpEndpoint } from "./endpoint.ts";
import type { McpPinStore } from "./pins.ts";

export interface McpSourceOptions {
  /** Begins the names of the tools: 1 to 20 lower-case letters and digits. */
  readonly name: string;
  /** `mcpProcess` of `@keyhole/mcp/node` and `mcpHttp` make one. */
  readonly server: McpEndpoint;
  /** Default: in memory. */
  readonly pins?: McpPinStore;
  /** By the server's name of a tool. Default: 2, and 3 for a tool that says it is destructive. */
  readonly tiers?: Readonly<Record<string, Tier>>;
  /** Of one call, in ms. Default 60,000. */
  readonly timeoutMs?: number;
  /** Of one result, as JSON. Default 4 MiB. */
  readonly resultBytes?: number;
  /** Calls of one tool in an hour. Default 10,000. */
  readonly callsPerHour?: number;
  /** Default: the newest that the server speaks. */
  readonly era?: McpEra;
  readonly clock?: Clock;
  /** Log messages of the server that belong to no call, or to one of several. */
  readonly onLog?: (level: LoggingLevel, data: unknown) => void;
  /** A definition waits for {@link McpSource.confirm}. */
  readonly onChange?: (tool: McpSourceTool) => void;
}

/**
 * `open`: can be called. `changed`: the server has another definition than the pinned one, and calls are refused until somebody confirms it. `new`: came after the server
 * was seen first, or has characters that nobody sees; it waits likewise. `refused`: cannot be a tool of the kernel. `gone`: the server does not list it.
 */
export type McpToolState = "open" | "changed" | "new" | "refused" | "gone";

export interface McpSourceTool {
  /** The kernel's name. */
  readonly name: string;
  readonly serverName: string;
  readonly state: McpToolState;
  /** Of the definition that the server lists; confirm this one. */
  readonly hash: string;
  /** How it differs from the pinned one: show it before it is confirmed. A `new` tool differs in everything. */
  readonly differences: readonly DefinitionDifference[];
  /** Why it is refused. */
  readonly reason?: string;
}

/** The tools of one server in a kernel. */
export interface McpSource {
  /** In the order of their names. */
  readonly tools: readonly McpSourceTool[];
  /** Accepts the definition of this hash, if it is still the one that the server lists. `false` where it is not. */
  confirm(serverName: string, hash: string): Promise<boolean>;
  /** Asks the server for its tools again. It is asked by itself when it says that they changed, and with each new connection. */
  refresh(): Promise<void>;
  /** The pinned definition of a tool of this source under the server's own name, for the option `definitionOf` of a server. */
  definitionOf(this: void, tool: ToolSummary): McpTool | undefined;
  /** Ends the connection and takes the tools from the kernel. */
  close(): Promise<void>;
}
