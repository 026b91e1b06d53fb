import { type JsonObject, type JsonValue, mcpTool } from "@keyhole/kernel";
import { type AgentKernel, type AgentOptions, type AgentTool, agentTools, argumentsOf } from "./agent-tools.ts";
import { claimNames, modelContextOr } from "./model-context.ts";

export type { AgentKernel, AgentOptions };

/** A tool of a page, as WebMCP registers it. */
export interface WebMcpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly consequentialHint: boolean;
    readonly untrustedContentHint: boolean;
  };
  execute(input: unknown, client?: { readonly signal?: AbortSignal }): Promise<JsonValue>;
}

/** `document.modelContext` of a browser with WebMCP, or of a polyfill; `navigator.modelContext` of Firefox. */
export interface ModelContext {
  registerTool(tool: WebMcpTool, options: { readonly signal: AbortSignal }): unknown;
  /** Firefox, which knows no signal. */
  unregisterTool?(name: string): unknown;
}

export interface WebMcpOptions extends AgentOptions {
  /** Default: `document.modelContext`. */
  readonly modelContext?: ModelContext;
}

export interface Exposed {
  /** Names of the tools that the page's agents see. */
  readonly tools: readonly string[];
  /** Takes the tools from the page. Calls that run are cancelled. */
  close(): void;
}

/**
 * Registers the kernel's tools with the page's model context, for agents of the browser. The browser does not check inputs: the kernel does. An agent of the page never
 * approves its own calls: the kernel's approver answers where the policy asks. Errors are data, because the browser drops the message of a thrown error.
 *
 * @throws TypeError where the page has no model context, or another exposure is open. Also for a name in `options.tools` that the kernel does not list
 * @example
 * const exposed = await exposeToPage(kernel, { caller: "page" });
 */
export async function exposeToPage(kernel: AgentKernel, options: WebMcpOptions = {}): Promise<Exposed> {
  const modelContext = modelContextOr(options.modelContext);
  const tools = await agentTools(kernel, options, { modelContext: true });
  const closing = new AbortController();
  const { signal } = closing;
  const own = claimNames(
    modelContext,
    tools.map(({ name }) => name),
  );
  const registered: string[] = [];
  signal.addEventListener("abort", () => {
    own.release();
    for (const name of registered) modelContext.unregisterTool?.(name);
  });
  try {
    for (const tool of tools) {
      await modelContext.registerTool(webMcpTool(tool, signal), { signal });
      registered.push(tool.name);
    }
  } catch (error) {
    closing.abort();
    throw error;
  }
  return { tools: tools.map(({ name }) => name), close: () => closing.abort() };
}

function webMcpTool(tool: AgentTool, closed: AbortSignal): WebMcpTool {
  const { name, title, description, inputSchema, manifest } = tool;
  const { readOnlyHint, destructiveHint, openWorldHint } = mcpTool(manifest).annotations;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema,
    annotations: { readOnlyHint, consequentialHint: destructiveHint, untrustedContentHint: openWorldHint },
    async execute(input, client = {}) {
      const signal = client.signal ? AbortSignal.any([client.signal, closed]) : closed;
      const answer = await tool.call(argumentsOf(input), { signal });
      if (!answer.ok) return { error: { ...answer.error } };
      const { data, text } = answer;
      return data instanceof Uint8Array || text !== JSON.stringify(data) ? text : data;
    },
  };
}
