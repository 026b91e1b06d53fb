import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ToolPackage } from "@keyhole/kernel";
import { type ChosenConfig, chooseConfig } from "../../config.ts";
import { type CommandIo, type CommandOptions, type CommandResult, type ExitCode, Unusable, visible } from "../../io.ts";
import { optionOf } from "../../options.ts";
import { chooseAgain } from "../../policy/read-policy.ts";
import { defaultFolder, openTools } from "../../tools/find-tool.ts";
import { faultLine, idOf } from "../../tools/load-tools.ts";
import { toolFolder } from "../../tools/tool-files.ts";
import { type Round, watchRounds } from "../../watch.ts";
import { removedAtExit } from "../../whole-file.ts";
import { type EdgeParts, edgeParts, type RunningEdge, type RunningPlayground } from "./parts.ts";
import { type WorkerParts, writeConfig, writeParts, writeWorker } from "./worker.ts";

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
  const port = await freePort("port", options, parts);
  const pagePort = await freePort("page-port", options, parts);
  if (port === pagePort) throw new Unusable(`Two options name port ${port}. Name another one with --page-port.`);
  const token = tokenOf(parts);
  const folder = await mkdtemp(join(tmpdir(), "keyhole-edge-"));
  const forget = removedAtExit(folder);
  const page = await parts.servePlayground(pagePort);
  const session = new EdgeSession({ folder, port, token, options, io, parts, page });
  try {
    await watchRounds(() => session.round(typed.length > 0 ? typed : [defaultFolder]), session.io);
    session.throwIfLost();
  } finally {
    await Promise.all([page?.stop(), session.stop()]);
    await rm(folder, { recursive: true, force: true });
    forget();
  }
  return { exitCode: io.signal.aborted ? 130 : session.exitCode, output: "" };
}

interface Around {
  readonly folder: string;
  readonly port: number;
  readonly token: string;
  readonly options: CommandOptions;
  readonly io: CommandIo;
  readonly parts: EdgeParts;
  readonly page: RunningPlayground | undefined;
}

class EdgeSession {
  readonly #around: Around;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly io: CommandIo;
  /** Of the signal that ended it; an interrupt is the command's. */
  exitCode: ExitCode = 0;
  #packages: ReadonlyMap<string, readonly ToolPackage[]> = new Map();
  #policy: WorkerParts["policy"] | undefined;
  #policyFile: string | undefined;
  #config: ChosenConfig | undefined;
  #served = "";
  #edge: RunningEdge | undefined;

  constructor(around: Around) {
    this.#around = around;
    // wrangler listens too, so that neither signal ends this process by itself.
    for (const [signal, exitCode] of [
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const)
      process.once(signal, () => {
        this.exitCode = exitCode;
        this.#ended.abort();
      });
    const signals = [around.io.signal, this.#lost.signal, this.#ended.signal];
    this.io = { ...around.io, signal: AbortSignal.any(signals) };
  }

  /** A broken file leaves the previous state. */
  async round(paths: readonly string[]): Promise<Round> {
    const { io } = this;
    const { tools, faults, folders } = await openTools(paths, io);
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
      ["policy", await this.#updatePolicy()] as const,
    ]);
    await this.#serve();
    const policyFolder = dirname(resolve(io.folder, optionOf(this.#around.options, "policy") ?? "policy.json"));
    return {
      folders: new Set([io.folder, policyFolder, ...paths.map((path) => toolFolder(path, io.folder)), ...folders]),
      lines,
    };
  }

  async #updatePolicy(): Promise<string> {
    try {
      const config = await chooseConfig({}, this.io);
      // An editor removes a file for a moment, and its limits must not go with it.
      const holds = config.found ? config : (this.#config ?? config);
      const { document, file } = await chooseAgain(this.#policyFile, this.#around.options["policy"], this.io, holds);
      this.#config = holds;
      [this.#policy, this.#policyFile] = [document, file];
      return visible(file === undefined ? "no policy.json here: posture standard, without grants" : `✓ ${file}`);
    } catch (error) {
      if (!(error instanceof Unusable) || this.#policy === undefined) throw error;
      return `✗ ${error.message} The policy before holds.`;
    }
  }

  async #serve(): Promise<void> {
    const { folder, options, io } = this.#around;
    const tools = [...this.#packages.values()].flat();
    const policy = this.#policy ?? { version: "1", posture: "standard" };
    const text = JSON.stringify({ tools, policy } satisfies WorkerParts);
    if (text === this.#served) return;
    io.note(this.#edge ? "starting the kernel again …\n" : "starting the edge …\n");
    if (this.#edge) {
      await writeParts(folder, text);
      await this.#edge.reload();
    } else {
      const hasMcp = hasPackage("@keyhole/mcp", io.folder);
      await writeWorker(folder, io.folder, { hasBuiltIn: options["builtIn"] === true, hasMcp });
      await writeParts(folder, text);
      await this.#start(await writeConfig(folder), hasMcp);
    }
    this.#served = text;
    await io.print("ready\n");
  }

  async #start(config: string, hasMcp: boolean): Promise<void> {
    const { io } = this;
    const { token, port, page, options, parts } = this.#around;
    const state = resolve(io.folder, optionOf(options, "state") ?? "");
    const approvalKey = randomBytes(24).toString("base64url");
    const vars = {
      KEYHOLE_ORIGINS: page === undefined ? "" : `${page.url} ${page.url.replace("127.0.0.1", "localhost")}`,
    };
    const onLine = (line: string): void => io.note(`${visible(line)}\n`);
    try {
      this.#edge = await parts.startEdge({ config, port, state, token, approvalKey, vars, onLine });
    } catch (error) {
      throw new Unusable(visible(error instanceof Error ? error.message : String(error)), { cause: error });
    }
    void this.#edge.failed.then((reason) => this.#lost.abort(new Unusable(visible(reason))));
    const { url } = this.#edge;
    // In the fragment, which a browser sends to no server.
    const link = page && `${page.url}/#${String(new URLSearchParams({ edge: url, token }))}`;
    const pageLine = link === undefined ? "" : `  page   ${link}\n`;
    const mcpLine = hasMcp ? `  MCP    ${url}/mcp, with the token; its approval pages take ${approvalKey}\n` : "";
    const example = `  curl -H 'authorization: Bearer ${token}' ${url}/v1/tools\n`;
    await io.print(`  edge   ${url}\n  token  ${token}\n${pageLine}${mcpLine}\n${example}\nCtrl-C ends everything.\n`);
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
async function freePort(option: "port" | "page-port", options: CommandOptions, { isFree }: EdgeParts): Promise<number> {
  const typed = optionOf(options, option === "port" ? "port" : "pagePort") ?? "";
  const port = /^\d{1,5}$/.test(typed) ? Number(typed) : 0;
  if (port < 1 || port > 65_535) throw new Unusable(visible(`--${option} takes a port from 1 to 65535; got ${typed}.`));
  if (!(await isFree(port))) throw new Unusable(`Port ${port} is in use. Name another one with --${option}.`);
  return port;
}

function hasPackage(name: string, folder: string): boolean {
  try {
    return createRequire(join(folder, "package.json")).resolve(`${name}/package.json`) !== "";
  } catch {
    return false;
  }
}

/** @throws {Unusable} for a text that no token is */
function tokenOf({ chosenToken }: EdgeParts): string {
  try {
    return chosenToken();
  } catch (error) {
    throw new Unusable(visible(error instanceof Error ? error.message : ""), { cause: error });
  }
}
