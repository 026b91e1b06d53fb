import type { JsonObject, Kernel, Tier, Tool, ToolContext, ToolSummary } from "@keyhole/kernel";
import { type Client, isInputRequiredResult, type ServerCapabilities } from "@modelcontextprotocol/client";
import { type PassedMethod, passedMethods } from "../passed-methods.ts";
import { inputRefused } from "./call-result.ts";
import type { CallerConnections } from "./connections.ts";
import type { McpSourceOptions } from "./options.ts";
import type { Prompts } from "./prompts.ts";
import type { RequestLimits } from "./running-calls.ts";
import { sourceBounds, toolOf } from "./source-tool.ts";

interface Passed {
  /** Behind the source's name. No name of a server's tool has two underscores there, so none can take it. */
  readonly name: string;
  readonly needs: keyof ServerCapabilities;
  /** A list takes nothing of the model, and tells names. The rest is in tier 2, as a tool of the server is: also a completion, which sends what was typed. */
  readonly tier: Tier;
  readonly description: string;
  readonly input: JsonObject;
  /** The member of the result that has to be there. */
  readonly gives: string;
  readonly givesType: "array" | "object";
  /** On the source's own connection: what it reads holds for all callers. */
  readonly isOwn?: true;
  send(client: Client, input: never, limits: RequestLimits, prompts: Prompts): Promise<object>;
}

const text = { type: "string" } as const;
const nothing = { type: "object", additionalProperties: false } as const;
const fresh = { cacheMode: "refresh" } as const;

const passed = {
  "prompts/list": {
    name: "list_prompts",
    needs: "prompts",
    tier: 1,
    description: "Lists the prompts of the server.",
    input: nothing,
    gives: "prompts",
    givesType: "array",
    isOwn: true,
    send: async (client, _, limits, prompts) => {
      await prompts.read(client, limits);
      return { prompts: prompts.shown };
    },
  },
  "prompts/get": {
    name: "get_prompt",
    needs: "prompts",
    tier: 2,
    description: "Reads one prompt of the server.",
    input: {
      type: "object",
      properties: { name: text, arguments: { type: "object", additionalProperties: text } },
      required: ["name"],
      additionalProperties: false,
    },
    gives: "messages",
    givesType: "array",
    send: (client, input: { readonly name: string }, limits, prompts) => {
      prompts.assertOpen(input.name);
      return client.getPrompt(input, limits);
    },
  },
  "resources/list": {
    name: "list_resources",
    needs: "resources",
    tier: 1,
    description: "Lists the resources of the server.",
    input: nothing,
    gives: "resources",
    givesType: "array",
    send: (client, _, limits) => client.listResources(undefined, { ...limits, ...fresh }),
  },
  "resources/templates/list": {
    name: "list_resource_templates",
    needs: "resources",
    tier: 1,
    description: "Lists the patterns of the addresses of the server's resources.",
    input: nothing,
    gives: "resourceTemplates",
    givesType: "array",
    send: (client, _, limits) => client.listResourceTemplates(undefined, { ...limits, ...fresh }),
  },
  "resources/read": {
    name: "read_resource",
    needs: "resources",
    tier: 2,
    description: "Reads one resource of the server. Pass its address.",
    input: { type: "object", properties: { uri: text }, required: ["uri"], additionalProperties: false },
    gives: "contents",
    givesType: "array",
    send: (client, input, limits) => client.readResource(input, { ...limits, ...fresh }),
  },
  "completion/complete": {
    name: "complete",
    needs: "completions",
    tier: 2,
    description: "Completes an argument of a prompt, or a part of a resource's address.",
    input: {
      type: "object",
      properties: { ref: { type: "object" }, argument: { type: "object" }, context: { type: "object" } },
      required: ["ref", "argument"],
      additionalProperties: false,
    },
    gives: "completion",
    givesType: "object",
    send: (client, input: Parameters<Client["complete"]>[0], limits, prompts) => {
      if (input.ref.type === "ref/prompt") prompts.assertOpen(input.ref.name);
      // A server could read another spelling as a prompt too.
      else if (input.ref.type !== "ref/resource")
        throw new TypeError("`ref.type` is neither ref/prompt nor ref/resource.");
      return client.complete(input, limits);
    },
  },
} as const satisfies Record<PassedMethod, Passed>;

/** The requests of one server in a kernel, beside those for its tools. */
export class PassedOn {
  readonly #kernel: Kernel;
  readonly #options: McpSourceOptions;
  readonly #connections: CallerConnections;
  readonly #prompts: Prompts;
  readonly #methods = new Map<string, PassedMethod>();

  constructor(kernel: Kernel, options: McpSourceOptions, prompts: Prompts, connections: CallerConnections) {
    this.#kernel = kernel;
    this.#options = options;
    this.#connections = connections;
    this.#prompts = prompts;
  }

  methodOf({ id }: ToolSummary): PassedMethod | undefined {
    return this.#methods.get(id);
  }

  /** Registers the methods that the server announces, once. @throws Error where the kernel has another tool of such a name */
  register(capabilities: ServerCapabilities = {}): void {
    for (const method of passedMethods) {
      const id = `${this.#options.name}__${passed[method].name}@1.0.0`;
      if (capabilities[passed[method].needs] === undefined || this.#methods.has(id)) continue;
      const registered = this.#kernel.registerTrusted(this.#toolOf(method), this);
      if (!registered.ok) throw new Error(`${id}: ${registered.error.message}`);
      this.#methods.set(id, method);
    }
  }

  async clear(): Promise<void> {
    for (const id of this.#methods.keys()) await this.#kernel.unregister(id);
    this.#methods.clear();
  }

  #toolOf(method: PassedMethod): Tool<never, unknown> {
    const { name, tier, description, input, gives, givesType, isOwn, send }: Passed = passed[method];
    const { server } = this.#options;
    return toolOf({
      name: `${this.#options.name}__${name}`,
      version: "1.0.0",
      description,
      category: "mcp",
      determinism: "external",
      tier,
      effects: [...server.effects],
      capabilities: [...server.capabilities],
      needs: server.needs,
      bounds: sourceBounds(this.#options),
      input,
      output: {
        kind: "json",
        schema: { type: "object", properties: { [gives]: { type: givesType } }, required: [gives] },
      },
      execute: async (given: JsonObject, context: ToolContext) =>
        partsOf(
          await (isOwn ? this.#connections.own : this.#connections).request(context, ({ client }, limits) =>
            send(client, given as never, limits, this.#prompts),
          ),
          gives,
        ),
    });
  }
}

/** Without what belongs to the exchange: how long it may be kept, and for whom. @throws Error where the server asks in return */
function partsOf(result: object, gives: string): object {
  if (isInputRequiredResult(result)) throw inputRefused();
  const parts = ["description", gives].flatMap((name) => {
    const value: unknown = Reflect.get(result, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries<unknown>(parts);
}
