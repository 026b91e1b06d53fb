import { resolve } from "node:path";
import type { Kernel } from "@keyhole/kernel";
import type { ConfigFile } from "@keyhole/worker-host/node/config";
import { type ChosenConfig, chooseConfig, configuredTools } from "../config.ts";
import { type CommandIo, type CommandOptions, Unusable } from "../io.ts";
import type { LoadedTools } from "../tools/load-tools.ts";
import { RegisteredPipelines } from "./registered-pipelines.ts";

/** The configuration as its file has it now. While the file is broken, the one before holds. */
export class WatchedConfig {
  readonly #options: CommandOptions;
  readonly #io: CommandIo;
  readonly #pipelines: RegisteredPipelines;
  #chosen: ChosenConfig;
  #present: ConfigFile;
  #line: string | undefined;

  constructor(kernel: Kernel, chosen: ChosenConfig, present: ConfigFile, options: CommandOptions, io: CommandIo) {
    [this.#chosen, this.#present, this.#options, this.#io] = [chosen, present, options, io];
    this.#pipelines = new RegisteredPipelines(kernel);
  }

  get chosen(): ChosenConfig {
    return this.#chosen;
  }

  /** Absolute. */
  get path(): string {
    return resolve(this.#io.folder, this.#present.file);
  }

  async reload(): Promise<ConfigFile> {
    try {
      const chosen = await chooseConfig(this.#options, this.#io);
      if (chosen.found) [this.#chosen, this.#present] = [chosen, chosen.found];
      this.#line = undefined;
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      this.#line = `✗ ${error.message} The configuration before holds.`;
    }
    return this.#present;
  }

  /** The tools of its sections `tools` and `http`. */
  async tools(): Promise<LoadedTools> {
    const { file, config } = this.#present;
    const { tools, ...loaded } = await configuredTools(this.#present, this.#io);
    const own = config.packages.map((pkg) => {
      return { file: `${file}#/http/${pkg.manifest.name}`, package: pkg };
    });
    return { ...loaded, tools: [...tools, ...own] };
  }

  /** @returns lines for the person */
  async updatePipelines(): Promise<ReadonlyMap<string, string>> {
    const { file, config } = this.#present;
    const lines = await this.#pipelines.update(config.pipelines, file);
    return new Map([...lines, ...(this.#line === undefined ? [] : [[file, this.#line] as const])]);
  }
}
