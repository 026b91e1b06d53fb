import type { Kernel } from "@keyhole/kernel";
import { visible } from "../io.ts";
import { faultLine, idOf, type LoadedTool, type LoadedTools } from "../tools/load-tools.ts";

/** The tools of a kernel, as files have them now. */
export class RegisteredTools {
  readonly #kernel: Kernel;
  /** By id. */
  readonly #present = new Map<string, { readonly hash: string; readonly file: string }>();
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Registers new tools, and retires absent ones. A call that runs finishes with the code that it began with. Of a file that cannot be packed the last tool stays.
   *
   * @returns a line for each file
   */
  async update({ tools, faults }: Pick<LoadedTools, "tools" | "faults">): Promise<Map<string, string>> {
    const hashes = new Map(tools.map((tool) => [idOf(tool.package), tool.package.hash]));
    const broken = new Set(faults.map(({ file }) => file));
    for (const [id, { hash, file }] of this.#present) {
      if (hashes.get(id) === hash || (broken.has(file) && !hashes.has(id))) continue;
      await this.#kernel.unregister(id);
      this.#present.delete(id);
    }
    return new Map([
      ...tools.map((tool) => [tool.file, visible(this.#register(tool))] as const),
      ...faults.map((fault) => [fault.file, faultLine(fault)] as const),
    ]);
  }

  #register({ file, package: pkg }: LoadedTool): string {
    const id = idOf(pkg);
    if (!this.#present.has(id)) {
      const registered = this.#kernel.register(pkg);
      if (!registered.ok) return `✗ ${file}: ${registered.error.message} ${registered.error.hint}`.trimEnd();
      this.#present.set(id, { hash: pkg.hash, file });
    }
    return `✓ ${id}  ${file}  ${pkg.hash}`;
  }
}
