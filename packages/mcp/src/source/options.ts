import type { Clock, McpTool, Tier, ToolSummary } from "@keyhole/kernel";
import type { OptionNames } from "@keyhole/kernel/foreign";
import { type ForeignBounds, foreignBounds, type ForeignTool, type ToolPinStore } from "@keyhole/kernel/foreign-tools";
import type { LoggingLevel } from "@modelcontextprotocol/client";
import type { PassedMethod } from "../passed-methods.ts";
import type { McpEra } from "./connection.ts";
import type { McpEndpoint } from "./endpoint.ts";

export interface McpSourceOptions extends ForeignBounds {
  /** Begins the names of the tools: 1 to 20 lower-case letters and digits. */
  readonly name: string;
  /** `mcpProcess` of `@keyhole/mcp/node` and `mcpHttp` make one. */
  readonly server: McpEndpoint;
  /** Default: in memory. */
  readonly pins?: ToolPinStore;
  /**
   * One connection for the calls of all callers. Only for a server that keeps nothing between calls: else each caller meets what the others left. Default `false`: each caller
   * has a connection of its own.
   */
  readonly shared?: boolean;
  /** Of callers, at the same time. Beyond them the longest idle one ends. While all are in use, a call waits. Default 16. */
  readonly connections?: number;
  /** A caller's connection ends so long after its last call, with all that the server kept for it. Default one hour. */
  readonly idleMs?: number;
  /** By the server's name of a tool. Default: 2, and 3 for a tool that says it is destructive. */
  readonly tiers?: Readonly<Record<string, Tier>>;
  /** Default: the newest that the server speaks. */
  readonly era?: McpEra;
  readonly clock?: Clock;
  /** Log messages of the server that belong to no call, or to one of several. */
  readonly onLog?: (level: LoggingLevel, data: unknown) => void;
  /** A definition waits for {@link McpSource.confirm}. */
  readonly onChange?: (tool: ForeignTool) => void;
  /** The definition of a prompt waits for {@link McpSource.confirmPrompt}. */
  readonly onPromptChange?: (prompt: ForeignTool) => void;
  /** The way to the server waits for {@link McpSource.confirmServer}. */
  readonly onServerChange?: (server: ForeignTool) => void;
}

export const sourceOptions: OptionNames<McpSourceOptions> = {
  name: true,
  server: true,
  pins: true,
  shared: true,
  connections: 1,
  idleMs: 1,
  tiers: true,
  era: true,
  clock: true,
  onLog: true,
  onChange: true,
  onPromptChange: true,
  onServerChange: true,
  ...foreignBounds,
};

/** The tools of one server in a kernel. */
export interface McpSource {
  /** In the order of their names. */
  readonly tools: readonly ForeignTool[];
  /** Accepts the definition of this hash, if it is still the one that the server lists. `false` where it is not. */
  confirm(serverName: string, hash: string): Promise<boolean>;
  /** The server's prompts, likewise: `name` is the server's. A prompt that is not `open` is not read. */
  readonly prompts: readonly ForeignTool[];
  /** Accepts the definition of a prompt, as `confirm` does for a tool. */
  confirmPrompt(name: string, hash: string): Promise<boolean>;
  /** The way to the server, pinned likewise: command, arguments and names of variables, or the URL. While it is not `open`, no call reaches the server. */
  readonly server: ForeignTool;
  /** Accepts the way of this hash. `false` where it is not the present one. */
  confirmServer(hash: string): Promise<boolean>;
  /** For the option `onListChange` of a server: hears that prompts or resources changed. Returns the end of it. */
  onListChange(this: void, listener: (list: "prompts" | "resources") => void): () => void;
  /** Asks the server for its tools again. It is asked by itself when it says that they changed, and with each new connection. */
  refresh(): Promise<void>;
  /** The pinned definition of a tool of this source under the server's own name, for the option `definitionOf` of a server. */
  definitionOf(this: void, tool: ToolSummary): McpTool | undefined;
  /** The request of MCP that a tool of this source stands for, for the option `methodOf` of a server: prompts, resources and completion pass through as calls. */
  methodOf(this: void, tool: ToolSummary): PassedMethod | undefined;
  /** Ends the connection and takes the tools from the kernel. */
  close(): Promise<void>;
}
