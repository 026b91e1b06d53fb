import { type Kernel, type Tool, versionedId } from "@keyhole/kernel";
import { visible } from "../io.ts";

/** The pipelines of a kernel, as the configuration has them now. Another content is another version. */
export class RegisteredPipelines {
  readonly #kernel: Kernel;
  readonly #ids = new Set<string>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** @returns a line for each */
  async update(tools: readonly Tool[], file: string): Promise<ReadonlyMap<string, string>> {
    const ids = new Map(tools.map((tool) => [versionedId(tool.definition), tool]));
    for (const id of this.#ids) {
      if (ids.has(id)) continue;
      await this.#kernel.unregister(id);
      this.#ids.delete(id);
    }
    const lines = new Map<string, string>();
    for (const [id, tool] of ids) {
      const place = `${file}#/pipelines/${tool.definition.name}`;
      const setup = this.#ids.has(id) ? undefined : this.#kernel.registerTrusted(tool);
      const isThere = setup?.ok !== false;
      if (isThere) this.#ids.add(id);
      lines.set(place, visible(isThere ? `✓ ${id}  ${place}` : `✗ ${place}: ${setup.error.message}`));
    }
    return lines;
  }
}
