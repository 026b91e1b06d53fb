import { defineTool, type JsonObject } from "@keyhole/kernel";
import { type ForeignTool, Toolbox, type ToolboxOptions } from "@keyhole/kernel/foreign-tools";

export type PinBoxOptions = Pick<ToolboxOptions, "pins" | "onChange" | "faultOf" | "clock" | "onLeftOut">;

/** Pins definitions that are no tools, as a toolbox pins those of tools. */
export class PinBox {
  readonly #box: Toolbox;

  /** @param name no name of a source: it has a dot. So no source takes these pins */
  constructor(name: string, options: PinBoxOptions) {
    this.#box = new Toolbox(noRegistry, {
      ...options,
      name,
      onChange: (definition) => options.onChange?.(underOwnName(definition)),
      toolOf: (tool) => defineTool({ ...placeholder, name: tool.replaceAll(".", "_").slice(0, 64) }),
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

  take(listed: Parameters<Toolbox["take"]>[0]): Promise<void> {
    return this.#box.take(listed);
  }

  confirm(name: string, hash: string): Promise<boolean> {
    return this.#box.confirm(name, hash);
  }
}

/** Nothing in the box has a name in the kernel. */
function underOwnName(definition: ForeignTool): ForeignTool {
  return { ...definition, name: definition.serverName };
}

/** The box registers nothing. */
const noRegistry = {
  registerTrusted: () => ({ ok: true, value: undefined }) as never,
  unregister: async () => true,
};

const placeholder = {
  version: "1.0.0",
  description: "Stands for a definition.",
  input: { type: "object" },
  output: { kind: "text" },
  execute: () => "",
} as const;
