import {
  decodeBase64Url,
  encodeBase64Url,
  isToolName,
  type JsonObject,
  type Kernel,
  type McpTool,
  mcpTool,
  type ToolManifest,
  type ToolSummary,
} from "@keyhole/kernel";
import type { PassedMethod } from "../passed-methods.ts";
import { outputSchemaOf } from "../mcp-output.ts";
import type { McpCaller } from "./caller.ts";
import { withVisibleTitle } from "./client-text.ts";
import { type McpQuestion, withoutAnswers } from "./questions.ts";

/** A tool as a client sees it. */
export interface ListedTool {
  readonly manifest: ToolManifest;
  readonly definition: McpTool;
  /** The request that it stands for. */
  readonly method?: PassedMethod;
}

export interface CatalogueOptions {
  /** By the kernel's name of the tool. */
  readonly questions?: Readonly<Record<string, McpQuestion>>;
  /** Another definition for a tool, such as that of the server that it comes from; `undefined` for the tool's own. Each has a name of its own. */
  readonly definitionOf?: (tool: ToolSummary) => McpTool | undefined;
  /** The request that a tool stands for, such as `prompts/get`. Clients send that request, and the list omits the tool. */
  readonly methodOf?: (tool: ToolSummary) => PassedMethod | undefined;
  /** Learns that prompts or resources behind `methodOf` changed, so that clients get a notification. Returns the end of it. Default: no notification. */
  readonly onListChange?: (listener: (list: "prompts" | "resources") => void) => () => void;
  /** Tools of one page of `tools/list`. Default 200. */
  readonly pageSize?: number;
}

export interface ToolPage {
  readonly tools: readonly McpTool[];
  readonly nextCursor?: string;
}

type Caller = Pick<McpCaller, "caller" | "grants">;

interface Listed {
  readonly tools: ReadonlyMap<string, ListedTool>;
  readonly methods: ReadonlyMap<PassedMethod, ListedTool>;
}

/** Callers with a remembered list. They are names of the program's users: many, and bounded here. */
const MOST_CALLERS = 1_000;

/** The tools of a kernel by caller, under the names that clients know: the highest version of each that some call of the caller could start. */
export class Catalogue {
  readonly #kernel: Kernel;
  readonly #options: CatalogueOptions;
  readonly #stop: () => void;
  readonly #byCaller = new Map<string, Listed>();
  readonly #definitions = new WeakMap<ToolManifest, ListedTool>();

  constructor(kernel: Kernel, options: CatalogueOptions) {
    this.#kernel = kernel;
    this.#options = options;
    this.#stop = kernel.onToolsChange(() => this.#byCaller.clear());
  }

  close(): void {
    this.#stop();
  }

  find(caller: Caller, name: string): ListedTool | undefined {
    return ifHeld(caller, this.#listOf(caller.caller).tools.get(name));
  }

  /** The tool that stands for a request. */
  forMethod(caller: Caller, method: PassedMethod): ListedTool | undefined {
    return ifHeld(caller, this.#listOf(caller.caller).methods.get(method));
  }

  /** The page behind a cursor of ours; `undefined` for another one. */
  page(caller: Caller, cursor: string | undefined): ToolPage | undefined {
    const after = cursor === undefined ? "" : nameAt(cursor);
    if (after === undefined) return undefined;
    const { pageSize = 200 } = this.#options;
    const rest = [...this.#listOf(caller.caller).tools.values()].filter(
      (tool) => tool.manifest.name > after && ifHeld(caller, tool),
    );
    const shown = rest.slice(0, pageSize);
    const last = shown.at(-1);
    return {
      tools: shown.map(({ definition }) => definition),
      ...(last && rest.length > shown.length && { nextCursor: cursorAt(last.manifest.name) }),
    };
  }

  /** In the order of the kernel's names. */
  #listOf(caller: string): Listed {
    const known = this.#byCaller.get(caller);
    if (known) return known;
    const tools = new Map<string, ListedTool>();
    const methods = new Map<PassedMethod, ListedTool>();
    let previous = "";
    for (const summary of this.#kernel.list({ caller })) {
      const { name, body } = summary.manifest;
      // Of several versions the highest comes first. MCP has no bytes beside the arguments.
      if (name === previous || body) continue;
      previous = name;
      const tool = this.#listed(summary);
      const method = this.#options.methodOf?.(summary);
      if (method !== undefined) {
        if (!methods.has(method)) methods.set(method, { ...tool, method });
        continue;
      }
      if (!tools.has(tool.definition.name)) tools.set(tool.definition.name, tool);
    }
    if (this.#byCaller.size >= MOST_CALLERS) this.#byCaller.clear();
    const listed = { tools, methods };
    this.#byCaller.set(caller, listed);
    return listed;
  }

  #listed(summary: ToolSummary): ListedTool {
    const { manifest } = summary;
    let tool = this.#definitions.get(manifest);
    if (!tool) {
      const definition = this.#options.definitionOf?.(summary) ?? this.#ownDefinition(manifest);
      this.#definitions.set(manifest, (tool = { manifest, definition: withVisibleTitle(definition) }));
    }
    return tool;
  }

  #ownDefinition(manifest: ToolManifest): McpTool {
    const definition = mcpTool(manifest);
    const outputSchema = outputSchemaOf(manifest);
    const { questions = {} } = this.#options;
    const question = Object.hasOwn(questions, manifest.name) ? questions[manifest.name] : undefined;
    const inputSchema: JsonObject = question ? withoutAnswers(definition.inputSchema) : definition.inputSchema;
    const { outputSchema: _, ...rest } = definition;
    return { ...rest, inputSchema, ...(outputSchema && { outputSchema }) };
  }
}

/** A token that narrows the policy's grants hides the tools that it lacks a needed kind for. */
function ifHeld({ grants }: Caller, tool: ListedTool | undefined): ListedTool | undefined {
  const isHeld = tool?.manifest.capabilities.every(
    ({ kind, optional }) => optional === true || !grants || grants.some((grant) => grant.kind === kind),
  );
  return isHeld === true ? tool : undefined;
}

function cursorAt(name: string): string {
  return encodeBase64Url(new TextEncoder().encode(name));
}

function nameAt(cursor: string): string | undefined {
  const bytes = decodeBase64Url(cursor);
  const name = bytes && new TextDecoder().decode(bytes);
  return name !== undefined && isToolName(name) ? name : undefined;
}
