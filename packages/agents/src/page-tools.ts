import { versionedId } from "@keyhole/kernel";
import type { JsonObject, JsonValue, Kernel } from "@keyhole/kernel";
import { defineTool, type Tool } from "@keyhole/kernel/tool";
import { knownOptions } from "@keyhole/kernel/foreign";
import { exposedNames, modelContextOr } from "./model-context.ts";
import { kernelName } from "./page-names.ts";

/** A tool that a page registered, as a model context lists it. */
export interface PageTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** Chromium gives the schema as JSON text. */
  readonly inputSchema?: JsonObject | string;
  readonly annotations?: { readonly consequentialHint?: boolean };
}

/** `document.modelContext` of a browser with WebMCP, or of a polyfill; `navigator.modelContext` of Firefox. */
export interface PageModelContext {
  getTools(): Promise<readonly PageTool[]> | readonly PageTool[];
  executeTool?(tool: PageTool, input: object, options: { readonly signal: AbortSignal }): Promise<unknown>;
  /** Firefox, in the place of `executeTool`. A call that is cancelled runs on in the page. */
  invokeTool?(name: string, input: object): Promise<unknown>;
  addEventListener?(type: "toolchange", listener: () => void): void;
  removeEventListener?(type: "toolchange", listener: () => void): void;
}

export interface PageToolsOptions {
  /** Default: `document.modelContext`. */
  readonly modelContext?: PageModelContext;
}

export interface PageTools {
  /** By name in the kernel: the name in the page. */
  readonly tools: ReadonlyMap<string, string>;
  /** Tools of the page that the kernel does not take, by name, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
  /** Reads the page's tools again. The event `toolchange` does it as well. */
  refresh(): Promise<void>;
  /** Takes the tools from the kernel. */
  close(): Promise<void>;
}

type Registry = Pick<Kernel, "registerTrusted" | "unregister">;

/**
 * Puts the tools that a page registered under a kernel: the kernel's policy decides about each call, and its log records it. A page's word about its tools lowers nothing: each has tier 2,
 * and tier 3 where the page says that it has consequences. A tool whose definition the page changed does not run until it is registered again, which ends its approvals. Tools of
 * `exposeToPage` are left out.
 *
 * @throws TypeError where the page has no model context
 * @example
 * const source = await pageToolsSource(kernel);
 */
export async function pageToolsSource(kernel: Registry, options: PageToolsOptions = {}): Promise<PageTools> {
  const context = modelContextOr(knownOptions(options, { modelContext: true }, "pageToolsSource").modelContext);
  const source = {};
  const register = (tool: Tool<never, unknown>) => kernel.registerTrusted(tool, source);
  const registered = new Map<string, { readonly page: string; readonly definition: string }>();
  const refused = new Map<string, string>();
  let isClosed = false;
  const take = async (name: string): Promise<void> => {
    registered.delete(name);
    await kernel.unregister(versionedId({ name, version }));
  };
  const read = async (): Promise<void> => {
    const listed = isClosed ? [] : await foreignTools(context);
    refused.clear();
    const wanted = new Map(isClosed ? [] : namedTools(listed, refused));
    for (const [name, { definition }] of registered) if (wanted.get(name)?.definition !== definition) await take(name);
    for (const [name, { tool, definition }] of wanted) {
      if (registered.has(name)) continue;
      const result = registerIn(register, name, tool, definition, context);
      if (result === undefined) registered.set(name, { page: tool.name, definition });
      else refused.set(tool.name, result);
    }
  };
  let last = Promise.resolve();
  const refresh = (): Promise<void> => {
    const next = last.then(read);
    last = next.catch(() => {});
    return next;
  };
  const onChange = (): void => void refresh().catch(() => {});
  await refresh();
  context.addEventListener?.("toolchange", onChange);
  return {
    get tools() {
      return new Map([...registered].map(([name, { page }]) => [name, page]));
    },
    refused,
    refresh,
    async close() {
      isClosed = true;
      context.removeEventListener?.("toolchange", onChange);
      await refresh();
    },
  };
}

const version = "1.0.0";

async function foreignTools(context: PageModelContext): Promise<readonly PageTool[]> {
  const own = exposedNames(context);
  return (await context.getTools()).filter(({ name }) => !own.has(name));
}

interface Named {
  readonly tool: PageTool;
  /** The definition for the kernel. A changed definition is another tool. */
  readonly definition: string;
}

function definitionOf({ name, title, description, inputSchema, annotations }: PageTool): string {
  return JSON.stringify([name, title, description, inputSchema, annotations]);
}

function namedTools(tools: readonly PageTool[], refused: Map<string, string>): [string, Named][] {
  return tools.flatMap((tool) => {
    const name = kernelName(tool.name);
    const isTwice = tools.filter((other) => other.name === tool.name).length > 1;
    if (name !== undefined && !isTwice) return [[name, { tool, definition: definitionOf(tool) }] as [string, Named]];
    refused.set(tool.name, isTwice ? "The page has two tools of this name." : "The kernel has no name for it.");
    return [];
  });
}

/** The reason why the kernel does not take the tool; `undefined` where it does. */
function registerIn(
  register: (tool: Tool<never, unknown>) => ReturnType<Registry["registerTrusted"]>,
  name: string,
  tool: PageTool,
  definition: string,
  context: PageModelContext,
): string | undefined {
  const input = schemaOf(tool.inputSchema);
  if (!input) return "Its schema is not a JSON Schema of an object.";
  const result = register(
    defineTool({
      name,
      version,
      ...(tool.title !== undefined && tool.title !== "" && { title: tool.title }),
      description: tool.description,
      tier: tool.annotations?.consequentialHint === true ? 3 : 2,
      determinism: "nondeterministic",
      bounds: { timeoutMs: 60_000 },
      input,
      output: { kind: "json" },
      async execute(given, { signal }) {
        const now = (await foreignTools(context)).filter((each) => each.name === tool.name);
        const [current] = now;
        if (!current || now.length > 1 || definitionOf(current) !== definition)
          throw new Error(`The page has changed the tool ${tool.name}.`);
        const input = given as JsonObject;
        const running =
          context.executeTool?.(current, asArgument(input), { signal }) ?? context.invokeTool?.(tool.name, input);
        if (running === undefined) throw new Error("The page's model context lists tools, and runs none.");
        return outputOf(await running);
      },
    }),
  );
  return result.ok ? undefined : result.error.message;
}

function schemaOf(given: JsonObject | string | undefined): JsonObject | undefined {
  if (given === undefined || given === "") return { type: "object" };
  try {
    const schema: unknown = typeof given === "string" ? JSON.parse(given) : structuredClone(given);
    return typeof schema === "object" && schema !== null ? (schema as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Browsers take an object, earlier ones and the polyfill JSON text: this object becomes its JSON where a text is expected. */
function asArgument(input: JsonObject): object {
  const text = JSON.stringify(input);
  const copy: object = { ...input };
  return Object.hasOwn(copy, "toString") ? copy : Object.defineProperty(copy, "toString", { value: () => text });
}

function outputOf(given: unknown): JsonValue {
  if (typeof given !== "string") return (given ?? null) as JsonValue;
  try {
    return JSON.parse(given) as JsonValue;
  } catch {
    return given;
  }
}
