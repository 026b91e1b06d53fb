import { once } from "node:events";
import { join, resolve } from "node:path";
import type { JsonValue, Kernel, ToolPackage } from "@keyhole/kernel";
import type { McpServerOptions, McpSource } from "@keyhole/mcp";
import { chooseConfig, configuredTools } from "../config.ts";
import { type CommandIo, type CommandOptions, type CommandResult, Unusable, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { openKernel, type OpenKernel } from "../run/open-kernel.ts";
import { defaultFolder, openTools } from "../tools/find-tool.ts";
import { faultLine } from "../tools/load-tools.ts";
import { addApprover, readApprovers } from "../wrap/approvers.ts";
import { makePasskey, openDesk } from "../wrap/desk.ts";
import { makeFolder, newLog } from "../wrap/home.ts";
import { freshNote } from "../wrap/fresh.ts";
import { hiddenNote } from "../wrap/hidden.ts";
import { type McpParts, mcpParts } from "../wrap/parts.ts";
import { review, sourceNotes } from "../wrap/review.ts";
import { suggest, type Suggested } from "../wrap/suggest.ts";
import { type NamedServer, readServers } from "./servers.ts";

interface Served {
  readonly kernel: Kernel;
  readonly mcp: McpServerOptions;
  readonly caller: string;
}

/** Serves own tools, and those of other servers, under one policy until the client goes or the command is interrupted. */
export async function serve(paths: readonly string[], options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  if (options["mcp"] !== true) throw new Unusable("Name the protocol to serve: `keyhole serve --mcp`.");
  const parts = await mcpParts();
  const home = { folder: resolve(io.folder, optionOf(options, "home") ?? ".keyhole") };
  await makeFolder(home.folder);
  const newApprover = optionOf(options, "newKey");
  if (newApprover !== undefined) return addApprover(newApprover, home, parts);
  if (options["newPasskey"] === true) return makePasskey(parts, io);
  const servers = await readServers(optionOf(options, "servers"), parts, io);
  const opened = await open(paths, home.folder, options, io);
  const { kernel, policy } = opened;
  const sources: (NamedServer & Suggested)[] = [];
  try {
    for (const server of servers)
      sources.push({
        ...server,
        source: await connect(kernel, server, home.folder, parts, sourceNotes(io, options, `${server.name}: `)),
      });
    if (options["review"] === true) return await reviewAll(sources, io);
    if (options["suggest"] === true) return suggest(kernel, sources);
    const caller = optionOf(options, "caller") ?? "client";
    for (const { name, source } of sources) io.note(hiddenNote(kernel, caller, name, source));
    const keys = await readApprovers(home);
    const desk = await openDesk({ keys, policy: policy.document }, parts, io);
    const served = { kernel, caller, mcp: { ...(desk && { approvals: desk }) } };
    try {
      const port = optionOf(options, "http");
      if (port === undefined) await overStdio(served, parts, io);
      else await overHttp(served, port, optionOf(options, "token"), parts, io);
    } finally {
      await desk?.close();
    }
  } finally {
    for (const { source } of sources) await source.close();
    await opened.close();
  }
  return { exitCode: io.signal.aborted ? 130 : 0, output: "" };
}

async function open(
  paths: readonly string[],
  folder: string,
  options: CommandOptions,
  io: CommandIo,
): Promise<OpenKernel> {
  const config = await chooseConfig(options, io);
  const typed = paths.length > 0 || config ? paths : await ifThere(defaultFolder, io);
  const loaded = [await openTools(typed, io), ...(config ? [await configuredTools(config, io)] : [])];
  // A tool that is missing from a server is noticed much later than a server that does not start.
  const [fault] = loaded.flatMap(({ faults }) => faults);
  if (fault) throw new Unusable(faultLine(fault));
  const packages: readonly ToolPackage[] = loaded.flatMap(({ tools }) => tools.map((tool) => tool.package));
  const kept = optionOf(options, "log") ?? config?.config.document.sink;
  if (kept !== undefined) return openKernel(packages, options, io, config);
  const opened = await openKernel(packages, { ...options, log: newLog(folder) }, io, config);
  io.note(freshNote(opened.policy.document as unknown as JsonValue, options));
  return opened;
}

async function ifThere(name: string, io: CommandIo): Promise<readonly string[]> {
  const { stat } = await import("node:fs/promises");
  return stat(resolve(io.folder, name)).then(
    () => [name],
    () => [],
  );
}

/** @throws {Unusable} where the server cannot be reached: a client would miss its tools without a word */
async function connect(
  kernel: Kernel,
  { name, endpoint }: NamedServer,
  folder: string,
  { common, node }: McpParts,
  notes: ReturnType<typeof sourceNotes>,
): Promise<McpSource> {
  try {
    return await common.mcpSource(kernel, {
      name,
      server: endpoint,
      pins: node.filePins(join(folder, `pins-${name}.json`)),
      ...notes,
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : "it failed";
    throw new Unusable(visible(`The server ${name} cannot be used: ${why}`), { cause: error });
  }
}

async function reviewAll(sources: readonly Suggested[], io: CommandIo): Promise<CommandResult> {
  const results: CommandResult[] = [];
  for (const { source } of sources) results.push(await review(source, io));
  const exitCode = results.find((each) => each.exitCode !== 0)?.exitCode ?? 0;
  return { exitCode, output: results.map(({ output }) => output).join("") };
}

async function overStdio({ kernel, mcp, caller }: Served, { node }: McpParts, io: CommandIo): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const connection = node.serveMcpStdio(kernel, { ...mcp, caller: { caller }, onEnd: ended.resolve });
  await Promise.race([ended.promise, interrupted(io)]);
  await connection.close();
}

async function overHttp(
  { kernel, mcp, caller }: Served,
  typedPort: string,
  variable: string | undefined,
  { common, node }: McpParts,
  io: CommandIo,
): Promise<void> {
  const port = /^\d{1,5}$/.test(typedPort) ? Number(typedPort) : Number.NaN;
  if (!(port <= 65_535)) throw new Unusable(`--http takes a port from 0 to 65535; got ${visible(typedPort)}.`);
  const given = variable === undefined ? undefined : process.env[variable];
  if (variable !== undefined && given === undefined)
    throw new Unusable(`The environment variable ${visible(variable)} is not set.`);
  const token = given ?? crypto.randomUUID();
  const server = await listening(port, () =>
    node.serveMcpHttp(kernel, { ...mcp, port, authenticate: common.bearerTokens([[token, { caller }]]) }),
  );
  await io.print(
    `${server.url}\n${given === undefined ? `The token of the caller ${visible(caller)}: ${token}\n` : ""}`,
  );
  await interrupted(io);
  await server.close();
}

/** @throws {Unusable} for a port that is taken, or a token that is too short */
async function listening<Server>(port: number, start: () => Promise<Server>): Promise<Server> {
  try {
    return await start();
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const other = error instanceof Error ? error.message : "The server cannot listen.";
    const why = isTaken ? `Port ${port} is in use. End the program that has it, or name another port.` : other;
    throw new Unusable(visible(why), { cause: error });
  }
}

/** A client ends its servers with SIGTERM; the default would leave the processes of our own servers behind. */
async function interrupted({ signal }: CommandIo): Promise<void> {
  if (!signal.aborted) await Promise.race([once(process, "SIGTERM"), once(signal, "abort")]);
}
