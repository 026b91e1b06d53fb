import { knownOptions } from "@keyhole/kernel/foreign";
import {
  type Clock,
  type JsonObject,
  type JsonValue,
  type Kernel,
  type McpTool,
  systemClock,
  type ToolContext,
} from "@keyhole/kernel";
import {
  boundsOf,
  checkNeeds,
  checkSourceName,
  type ForeignTool,
  memoryPins,
  type OpenTool,
  Toolbox,
} from "@keyhole/kernel/foreign-tools";
import type { Client, Tool as ListedTool } from "@modelcontextprotocol/client";
import { outputOf } from "./call-result.ts";
import { type McpList, wantsLog } from "./connection.ts";
import { CallerConnections, CONNECTIONS, IDLE_MS } from "./connections.ts";
import type { Progress } from "./direct-calls.ts";
import { definitionFault, entriesOf } from "./lists.ts";
import { type McpSource, type McpSourceOptions, sourceOptions } from "./options.ts";
import { PassedOn } from "./passed-on.ts";
import { PinBox } from "./pin-box.ts";
import { Prompts } from "./prompts.ts";
import { Refreshes } from "./refreshes.ts";
import { sourceTool } from "./source-tool.ts";

/** Of a message, over those of a result: names, ids, and escapes that JSON has in other places. */
const ENVELOPE_BYTES = 1_048_576;
/** The one definition of the way to the server. */
const SERVER = "server";

/**
 * Connects to a server of MCP and makes its tools tools of the kernel. The source pins each definition at the first sight of the server. A call of a tool whose definition has
 * changed since is refused until {@link McpSource.confirm}.
 *
 * @throws TypeError for a name that is none, and for a server with a capability of which it states no access
 * @throws Error where the server cannot be reached
 * @example
 * const source = await mcpSource(kernel, { name: "files", server: mcpProcess({ command: "npx", args: ["-y", "some-server"] }) });
 * for (const { name, state } of source.tools) console.log(name, state);
 */
export async function mcpSource(kernel: Kernel, given: McpSourceOptions): Promise<McpSource> {
  const options = knownOptions(given, sourceOptions, "mcpSource");
  checkSourceName(options.name);
  checkNeeds(options.server.capabilities, options.server.needs);
  const source = new KernelSource(kernel, options);
  try {
    await source.open();
  } catch (error) {
    await source.close();
    throw error;
  }
  return source;
}

class KernelSource implements McpSource {
  readonly #options: McpSourceOptions;
  readonly #toolbox: Toolbox;
  readonly #passedOn: PassedOn;
  readonly #connections: CallerConnections;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #prompts: Prompts;
  readonly #way: PinBox;
  readonly #refreshes: Readonly<Record<McpList, Refreshes>>;
  readonly #listeners = new Set<(list: "prompts" | "resources") => void>();

  constructor(kernel: Kernel, options: McpSourceOptions) {
    this.#options = options;
    const { name, pins, onChange, server: endpoint, era, clock = systemClock } = options;
    this.#refreshes = {
      tools: this.#refreshesOf(clock, "tools", () => this.refresh()),
      prompts: this.#refreshesOf(clock, "prompts", () => this.#readPrompts()),
      resources: this.#refreshesOf(clock, "resources", async () => this.#tell("resources")),
    };
    const onLog: NonNullable<McpSourceOptions["onLog"]> = (level, data) => options.onLog?.(level, data);
    const onLeftOut = (count: number): void =>
      onLog(
        "warning",
        `The server changes its tools too often: ${count} changes are left out of the kernel and its log.`,
      );
    // One store for all: its owner may have opened none.
    const kept = pins ?? memoryPins();
    const { onPromptChange, onServerChange } = options;
    this.#prompts = new Prompts(`${name}.prompts`, {
      pins: kept,
      onChange: onPromptChange,
      clock,
      onLeftOut,
      faultOf: definitionFault("Prompt"),
    });
    this.#way = new PinBox(`${name}.server`, { pins: kept, onChange: onServerChange, clock, onLeftOut });
    this.#toolbox = new Toolbox(kernel, {
      name,
      pins: kept,
      onChange,
      clock,
      onLeftOut,
      faultOf: definitionFault("Tool"),
      toolOf: (tool, pin, call) => sourceTool(tool, pin, options, call),
      call: (tool, input, context) => this.#call(tool, input, context),
    });
    this.#connections = new CallerConnections(
      {
        name,
        endpoint,
        era,
        clock,
        timeoutMs: boundsOf(options).timeoutMs,
        messageBytes: boundsOf(options).outputBytes + ENVELOPE_BYTES,
        assertOpen: () => this.#assertOpen(),
        onOpen: (client) => this.#opened(client),
        onListChanged: (list) => void this.#refreshes[list].soon(),
        onLog,
      },
      {
        isShared: options.shared ?? false,
        most: options.connections ?? CONNECTIONS,
        idleMs: options.idleMs ?? IDLE_MS,
      },
    );
    this.#passedOn = new PassedOn(kernel, options, this.#prompts, this.#connections);
  }

  get tools(): readonly ForeignTool[] {
    return this.#toolbox.tools;
  }

  /** The first connection lists the tools. */
  async open(): Promise<void> {
    await this.#connections.own.client();
    // Behind it: a command that never ran is not the way that a person means.
    await this.#way.take([{ name: SERVER, ...this.#options.server.way }]);
  }

  async refresh(): Promise<void> {
    const client = await this.#connections.own.client();
    await this.#list(client);
  }

  confirm(serverName: string, hash: string): Promise<boolean> {
    return this.#inTurn(() => this.#toolbox.confirm(serverName, hash));
  }

  get prompts(): readonly ForeignTool[] {
    return this.#prompts.all;
  }

  confirmPrompt(name: string, hash: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const isConfirmed = await this.#prompts.confirm(name, hash);
      if (isConfirmed) this.#tell("prompts");
      return isConfirmed;
    });
  }

  get server(): ForeignTool {
    const [server] = this.#way.all;
    if (!server) throw new Error("The source is not open.");
    return server;
  }

  confirmServer(hash: string): Promise<boolean> {
    return this.#inTurn(() => this.#way.confirm(SERVER, hash));
  }

  /** Another command under the same name may be another server. */
  #assertOpen(): void {
    if (this.server.state !== "open")
      throw new Error(
        `The server ${this.#options.name} is reached in another way than before. Keyhole blocks it until a person confirms the change.`,
      );
  }

  readonly onListChange: McpSource["onListChange"] = (listener) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  #tell(list: "prompts" | "resources"): void {
    for (const listener of this.#listeners) listener(list);
  }

  readonly definitionOf: McpSource["definitionOf"] = ({ id }) => {
    const pin = this.#toolbox.pinOf(id);
    return pin && ({ ...pin.definition, name: pin.tool } as unknown as McpTool);
  };

  readonly methodOf: McpSource["methodOf"] = (tool) => this.#passedOn.methodOf(tool);

  async close(): Promise<void> {
    for (const each of Object.values(this.#refreshes)) each.close();
    await this.#connections.close();
    await this.#inTurn(async () => {
      await this.#toolbox.clear();
      await this.#passedOn.clear();
    });
  }

  /** One after the other: two comparisons of lists must not overlap. */
  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {}); // The caller has it.
    return turn;
  }

  async #opened(client: Client): Promise<void> {
    if (client.getProtocolEra() === "legacy" && client.getServerCapabilities()?.logging)
      await client.setLoggingLevel("info").catch(() => {}); // Then it logs as it likes.
    this.#passedOn.register(client.getServerCapabilities());
    await this.#list(client);
    // Without its list no prompt is open.
    if (client.getServerCapabilities()?.prompts) await this.#inTurn(() => this.#prompts.read(client)).catch(() => {});
  }

  async #readPrompts(): Promise<void> {
    const client = await this.#connections.own.client();
    await this.#inTurn(() => this.#prompts.read(client));
    this.#tell("prompts");
  }

  #refreshesOf(clock: Clock, list: McpList, refresh: () => Promise<void>): Refreshes {
    return new Refreshes(
      clock,
      () => refresh().catch(() => {}), // The next connection lists them.
      (waitMs) =>
        this.#options.onLog?.(
          "warning",
          `The server says too often that its ${list} changed. The next request is in ${waitMs} ms.`,
        ),
    );
  }

  #list(client: Client): Promise<void> {
    return this.#inTurn(async () => {
      await this.#toolbox.take(await entriesOf(client, "tools"));
    });
  }

  async #call(tool: OpenTool, input: JsonObject, context: ToolContext): Promise<JsonValue> {
    const { progress } = context;
    tool.assertOpen();
    const onProgress = ({ progress: done, total, message }: Progress): void =>
      progress({ done, ...(total !== undefined && { total }), ...(message !== undefined && { message }) });
    const result = await this.#connections.request(context, async ({ client, calls }, limits) => {
      tool.assertOpen(); // The server can have been started again, with another definition.
      const { serverName: name } = tool;
      return calls
        ? calls.call({ name, input, ...limits, timeoutMs: limits.timeout, onProgress })
        : client.callTool(
            { name, arguments: input, _meta: wantsLog },
            { ...limits, toolDefinition: withoutOutput(tool), onprogress: onProgress },
          );
    });
    return outputOf(result);
  }
}

/** The kernel checks the output. */
function withoutOutput({ definition }: OpenTool): ListedTool {
  const { outputSchema: _, ...rest } = definition as unknown as ListedTool;
  return rest;
}
