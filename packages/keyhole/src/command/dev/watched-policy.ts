import { dirname, resolve } from "node:path";
import type { Kernel } from "@keyhole/kernel";
import { type CommandIo, Unusable } from "../io.ts";
import type { ChosenConfig } from "../config.ts";
import { type ChosenPolicy, chooseAgain } from "../policy/read-policy.ts";

/** The policy of a kernel, as its file has it now. While the file is broken or gone, the policy before holds. */
export class WatchedPolicy {
  readonly #kernel: Kernel;
  readonly #typed: string | undefined;
  readonly #io: CommandIo;
  readonly #config: () => ChosenConfig;
  #document: string;
  #file: string | undefined;
  constructor(
    kernel: Kernel,
    { document, file }: ChosenPolicy,
    typed: string | undefined,
    io: CommandIo,
    config: () => ChosenConfig,
  ) {
    [this.#kernel, this.#typed, this.#io, this.#config] = [kernel, typed, io, config];
    this.#document = JSON.stringify(document);
    this.#file = file;
  }

  /** Where its file is, or would be. */
  get folder(): string {
    const { folder } = this.#io;
    return this.#typed === undefined ? folder : dirname(resolve(folder, this.#typed));
  }

  /** @returns a line for the person; `undefined` where there is no file */
  async update(): Promise<string | undefined> {
    try {
      const { document, file } = await chooseAgain(this.#file, this.#typed, this.#io, this.#config());
      const text = JSON.stringify(document);
      if (text !== this.#document) {
        const set = await this.#kernel.setPolicy(document);
        if (!set.ok) throw new Unusable(set.error.message);
        this.#document = text;
      }
      this.#file = file;
      return file === undefined ? undefined : `✓ ${file}  ${this.#kernel.policyHash}`;
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      return `✗ ${error.message} The policy before holds.`;
    }
  }
}
