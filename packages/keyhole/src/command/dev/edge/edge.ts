import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ToolPackage } from "@keyhole/kernel";
import { type CommandIo, type CommandOptions, type CommandResult, Unusable, visible } from "../../io.ts";
import { optionOf } from "../../options.ts";
import { choosePolicy } from "../../policy/read-policy.ts";
import { defaultFolder, openTools } from "../../tools/find-tool.ts";
import { faultLine, idOf } from "../../tools/load-tools.ts";
import { toolFolder } from "../../tools/tool-files.ts";
import { type Round, watchRounds } from "../../watch.ts";
import { removedAtExit } from "../../whole-file.ts";
import { type EdgeParts, edgeParts, type RunningEdge } from "./parts.ts";
import { writeConfig, writeWorker, type WorkerParts } from "./worker.ts";

/** Serves the tools over HTTP while a person writes them. A change of a tool or of the policy starts the kernel again; its log and files stay. */
export async function devEdge(
  typed: readonly string[],
  options: CommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  for (const other of ["config", "files", "log"])
    if (options[other] !== undefined)
      throw new Unusable(`--${other} is not for --edge: the edge has a store of its own.`);
  const parts = await edgeParts();
  const port = await freePort(optionOf(options, "port") ?? "", parts);
  const token = tokenOf(parts);
  const folder = await mkdtemp(join(tmpdir(), "keyhole-edge-"));
  const forget = removedAtExit(folder);
  const session = new EdgeSession({ folder, port, token, options, io, parts });
  try {
    await watchRounds(() => session.round(typed.length > 0 ? typed : [defaultFolder]), session.io);
    session.throwIfLost();
  } finally {
    await session.stop();
    await rm(folder, { recursive: true, force: true });
    forget();
  }
  return { exitCode: io.signal.aborted ? 130 : 0, output: "" };
}

interface Around {
  readonly folder: string;
  readonly port: number;
  readonly token: string;
  readonly options: CommandOptions;
  readonly io: CommandIo;
  readonly parts: EdgeParts;
}

class EdgeSession {
  readonly #around: Around;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly io: CommandIo;
  #packages: ReadonlyMap<string, readonly ToolPackage[]> = new Map();
  #policy: WorkerParts["policy"] | undefined;
  #served = "";
  #edge: RunningEdge | undefined;

  constructor(around: Around) {
    this.#around = around;
    // wrangler listens too, so that neither signal ends this process by itself.
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => this.#ended.abort());
    const signals = [around.io.signal, this.#lost.signal, this.#ended.signal];
    this.io = { ...around.io, signal: AbortSignal.any(signals) };
  }

  /** What is broken keeps what was there before. */
  async round(paths: readonly string[]): Promise<Round> {
    const { io } = this;
    const { tools, faults } = await openTools(paths, io);
    const before = this.#packages;
    this.#packages = new Map([
      ...faults.map(({ file }) => [file, before.get(file) ?? []] as const),
      ...tools.map((tool) => [tool.file, [tool.package]] as const),
    ]);
    const lines = new Map([
      ...tools.map(
        (tool) => [tool.file, visible(`✓ ${idOf(tool.package)}  ${tool.file}  ${tool.package.hash}`)] as const,
      ),
      ...faults.map((fault) => [fault.file, faultLine(fault)] as const),
      ["policy", await this.#readPolicy()] as const,
    ]);
    await this.#serve();
    const files = tools.flatMap((tool) => tool.files).map((file) => dirname(file));
    const policyFolder = dirname(resolve(io.folder, optionOf(this.#around.options, "policy") ?? "policy.json"));
    return { folders: new Set([policyFolder, ...paths.map((path) => toolFolder(path, io.folder)), ...files]), lines };
  }

  async #readPolicy(): Promise<string> {
    try {
      const { document, file } = await choosePolicy(this.#around.options["policy"], this.io);
      this.#policy = document;
      return visible(file === undefined ? "no policy.json here: posture standard, without grants" : `✓ ${file}`);
    } catch (error) {
      if (!(error instanceof Unusable) || this.#policy === undefined) throw error;
      return `✗ ${error.message} The policy before holds.`;
    }
  }

  async #serve(): Promise<void> {
    const { folder, port, options, parts, io } = this.#around;
    const tools = [...this.#packages.values()].flat();
    const worker: WorkerParts = { tools, policy: this.#policy ?? { version: "1", posture: "standard" } };
    const text = JSON.stringify(worker);
    if (text === this.#served) return;
    io.note(this.#edge ? "starting the kernel again …\n" : "starting the edge …\n");
    await writeWorker(folder, io.folder, worker);
    if (this.#edge) await this.#edge.reload();
    else
      await this.#start(await writeConfig(folder), resolve(io.folder, optionOf(options, "state") ?? ""), port, parts);
    this.#served = text;
    io.note("ready\n");
  }

  async #start(config: string, state: string, port: number, { startEdge }: EdgeParts): Promise<void> {
    const { io } = this;
    const { token } = this.#around;
    const onLine = (line: string): void => io.note(`${visible(line)}\n`);
    try {
      this.#edge = await startEdge({ config, port, state, token, onLine });
    } catch (error) {
      throw new Unusable(visible(error instanceof Error ? error.message : String(error)), { cause: error });
    }
    void this.#edge.failed.then((reason) => this.#lost.abort(new Unusable(visible(reason))));
    io.note(`  edge   ${this.#edge.url}\n  token  ${token}\nCtrl-C ends everything.\n`);
  }

  /** @throws {Unusable} where a part of the edge ended and does not come back */
  throwIfLost(): void {
    this.#lost.signal.throwIfAborted();
  }

  async stop(): Promise<void> {
    await this.#edge?.stop();
  }
}

/** @throws {Unusable} for a port that is none, or that is taken */
async function freePort(typed: string, { isFree }: EdgeParts): Promise<number> {
  const port = /^\d{1,5}$/.test(typed) ? Number(typed) : 0;
  if (port < 1 || port > 65_535) throw new Unusable(visible(`--port takes a port from 1 to 65535; got ${typed}.`));
  if (!(await isFree(port))) throw new Unusable(`Port ${port} is taken. Name another one with --port.`);
  return port;
}

/** @throws {Unusable} for a text that no token is */
function tokenOf({ chosenToken }: EdgeParts): string {
  try {
    return chosenToken();
  } catch (error) {
    throw new Unusable(visible(error instanceof Error ? error.message : ""), { cause: error });
  }
}
