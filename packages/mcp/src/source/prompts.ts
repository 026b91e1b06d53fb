import { type Clock, defineTool, type JsonObject } from "@keyhole/kernel";
import { type ForeignTool, Toolbox, type ToolboxOptions } from "@keyhole/kernel/foreign-tools";
import type { Client } from "@modelcontextprotocol/client";

/** No name of a source has a dot, so no source takes the pins of these. */
const pinsOf = (source: string): string => `${source}.prompts`;

/**
 * The prompts of one server. A prompt instructs a model as the description of a tool does, so each definition is pinned the same way: a changed or a new prompt waits for a
 * person. The source pins no resources: their list is data, and each is read in a call of its own, by its address.
 */
export class Prompts {
  readonly #box: Toolbox;
  readonly #source: string;

  constructor(
    source: string,
    options: { readonly clock: Clock } & Pick<ToolboxOptions, "pins" | "onChange" | "onLeftOut">,
  ) {
    this.#source = source;
    this.#box = new Toolbox(noRegistry, {
      ...options,
      name: pinsOf(source),
      onChange: (prompt) => options.onChange?.(underOwnName(prompt)),
      toolOf: (name) => defineTool({ ...placeholder, name: name.replaceAll(".", "_").slice(0, 64) }),
      call: async () => undefined,
    });
  }

  get all(): readonly ForeignTool[] {
    return this.#box.tools.map(underOwnName);
  }

  /** As they are pinned. */
  get shown(): readonly JsonObject[] {
    return this.#box.shownPins.map(({ definition }) => definition);
  }

  /** Compares what the server lists with the pins. */
  async read(client: Client, limits: Parameters<Client["listPrompts"]>[1] = {}): Promise<void> {
    const { prompts } = await client.listPrompts(undefined, { ...limits, cacheMode: "refresh" });
    await this.#box.take(prompts);
  }

  confirm(serverName: string, hash: string): Promise<boolean> {
    return this.#box.confirm(serverName, hash);
  }

  /** @throws Error for a prompt that waits for a person, or that the server does not list */
  assertOpen(name: string): void {
    const state = this.all.find(({ serverName }) => serverName === name)?.state;
    if (state === "open") return;
    const prompt = `The prompt ${JSON.stringify(name.slice(0, 100))}`;
    if (state === "changed" || state === "new")
      throw new Error(`${prompt} of ${this.#source} is ${state}. Keyhole blocks it until a person confirms it.`);
    throw new Error(`${prompt} is not one that ${this.#source} offers.`);
  }
}

/** No prompt has a name in the kernel. */
function underOwnName(prompt: ForeignTool): ForeignTool {
  return { ...prompt, name: prompt.serverName };
}

/** Prompts are no tools: the box registers none. */
const noRegistry = {
  registerTrusted: () => ({ ok: true, value: undefined }) as never,
  unregister: async () => true,
};

const placeholder = {
  version: "1.0.0",
  description: "Stands for a prompt.",
  input: { type: "object" },
  output: { kind: "text" },
  execute: () => "",
} as const;
