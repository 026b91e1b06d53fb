import { join, resolve } from "node:path";
import type { Kernel, ToolPackage } from "@keyhole/kernel";
import type { McpServerOptions, McpSource, McpSourceOptions } from "@keyhole/mcp";
import type { ApprovalServer } from "@keyhole/mcp/node";
import type { ConfigFile } from "@keyhole/worker-host/node/config";
import manifest from "../../../package.json" with { type: "json" };
import { type ChosenConfig, chooseConfig, configuredTools } from "../config.ts";
import { type CommandIo, type CommandOptions, type CommandResult, readText, Unusable, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { choosePolicy } from "../policy/read-policy.ts";
import { closeInOrder } from "../run/logged-kernel.ts";
import { openKernel } from "../run/open-kernel.ts";
import { digestsOf, type Hello } from "../share/hello.ts";
import type { Served } from "../share/host.ts";
import { clientOf, interrupted, serveClients, sharingHost, type Start } from "../share/serve-clients.ts";
import { defaultFolder, openTools } from "../tools/find-tool.ts";
import { faultLine } from "../tools/load-tools.ts";
import { addApprover, readApprovers } from "../wrap/approvers.ts";
import { makePasskey, openDesk } from "../wrap/desk.ts";
import { healthNote } from "../wrap/health.ts";
import { logOf, makeFolder } from "../wrap/home.ts";
import { hiddenNote } from "../wrap/hidden.ts";
import { type McpParts, mcpParts } from "../wrap/parts.ts";
import { review, sourceNotes } from "../wrap/review.ts";
import { suggest, type Suggested } from "../wrap/suggest.ts";
import { type NamedServer, readServers } from "./servers.ts";

interface Serving {
  readonly options: CommandOptions;
  readonly folder: string;
  readonly servers: readonly NamedServer[];
  readonly config: ChosenConfig;
  readonly packages: readonly ToolPackage[];
  readonly parts: McpParts;
}

/** Serves own tools, and those of other servers, under one policy until the client goes or the command is interrupted. */
export async function serve(paths: readonly string[], options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  if (options["mcp"] !== true) throw new Unusable("Name the protocol to serve: `keyhole serve --mcp`.");
  const parts = await mcpParts();
  const folder = resolve(io.folder, optionOf(options, "home") ?? ".keyhole");
  await makeFolder(folder);
  const newApprover = optionOf(options, "newKey");
  if (newApprover !== undefined) return addApprover(newApprover, { folder }, parts);
  if (options["newPasskey"] === true) return makePasskey(parts, io);
  const servers = await readServers(optionOf(options, "servers"), parts, io);
  const config = await chooseConfig(options, io);
  const serving = { options, folder, servers, config, packages: await packagesOf(paths, config, io), parts };
  if (options["review"] === true || options["suggest"] === true) return lookAt(serving, io);
  const kept = optionOf(options, "log") ?? (config.found && sinkFileOf(config.found));
  const log = kept === undefined ? logOf(folder) : resolve(io.folder, kept);
  const start = {
    place: { folder, log },
    ...clientOf(options),
    parts: () => partsOf(serving, io),
    open: (noted: CommandIo) => open(serving, log, noted),
  };
  const port = optionOf(options, "http");
  if (port === undefined) return serveClients(start, io);
  await overHttp(start, port, optionOf(options, "token"), parts, io);
  return { exitCode: io.signal.aborted ? 130 : 0, output: "" };
}

function sinkFileOf({ config, folder }: ConfigFile): string | undefined {
  const { sink } = config.document;
  return sink && resolve(folder, sink.file);
}

async function packagesOf(
  paths: readonly string[],
  { found: config }: ChosenConfig,
  io: CommandIo,
): Promise<readonly ToolPackage[]> {
  const typed = paths.length > 0 || config ? paths : await ifThere(defaultFolder, io);
  const loaded = [await openTools(typed, io), ...(config ? [await configuredTools(config, io)] : [])];
  // A tool that is missing from a server is noticed much later than a server that does not start.
  const [fault] = loaded.flatMap(({ faults }) => faults);
  if (fault) throw new Unusable(faultLine(fault));
  return loaded.flatMap(({ tools }) => tools.map((tool) => tool.package));
}

/** All that decides what this start serves. */
async function partsOf({ options, folder, config, packages }: Serving, io: CommandIo): Promise<Hello["parts"]> {
  const servers = optionOf(options, "servers");
  const policy = await choosePolicy(options["policy"], io, config);
  return digestsOf({
    version: manifest.version,
    tools: packages,
    servers: servers === undefined ? null : await readText(resolve(io.folder, servers), io.files),
    shared: options["shared"] === true,
    "working directory": io.folder,
    "folder of files": options["files"],
    config: config.found?.config.document,
    policy: policy.document,
    "approvers.json": await readApprovers({ folder }),
  });
}

/** Runs no call, so it needs neither log nor state. */
async function lookAt(
  { options, folder, servers, config, packages, parts }: Serving,
  io: CommandIo,
): Promise<CommandResult> {
  const { log: _, ...rest } = options;
  const opened = await openKernel(packages, rest, io, config);
  const sources: (NamedServer & Suggested)[] = [];
  try {
    await connectAll(opened.kernel, { servers, folder, parts, options, sources }, io);
    return options["review"] === true ? await reviewAll(sources, io) : suggest(opened.kernel, sources);
  } finally {
    for (const { source } of sources) await source.close();
    await opened.close();
  }
}

async function open(
  { options, folder, servers, config, packages, parts }: Serving,
  log: string,
  io: CommandIo,
): Promise<ServedKernel> {
  const opened = await openKernel(packages, { ...options, log }, io, config);
  const { kernel, policy } = opened;
  const sources: (NamedServer & Suggested)[] = [];
  let desk: ApprovalServer | undefined;
  const close = (): Promise<void> =>
    closeInOrder(
      () => desk?.close(),
      ...sources.map(
        ({ source }) =>
          () =>
            source.close(),
      ),
      () => opened.close(),
    );
  try {
    io.note(await healthNote(kernel, log));
    await connectAll(kernel, { servers, folder, parts, options, sources }, io);
    desk = await openDesk({ keys: await readApprovers({ folder }), policy: policy.document }, parts, io);
  } catch (error) {
    await close();
    throw error;
  }
  const mcp = { ...(desk && { approvals: desk }) };
  const hidden = (caller: string): void => {
    for (const { name, source } of sources) io.note(hiddenNote(kernel, caller, name, source));
  };
  return {
    kernel,
    mcp,
    hidden,
    connect(client, { caller, session }, onEnd) {
      hidden(caller);
      return parts.node.serveMcpStdio(kernel, { ...mcp, ...client, caller: { caller, sessionId: session }, onEnd });
    },
    openCalls: async () => (await kernel.health()).openCalls,
    close,
  };
}

interface ServedKernel extends Served {
  readonly kernel: Kernel;
  readonly mcp: McpServerOptions;
  hidden(caller: string): void;
}

async function ifThere(name: string, io: CommandIo): Promise<readonly string[]> {
  const { stat } = await import("node:fs/promises");
  return stat(resolve(io.folder, name)).then(
    () => [name],
    () => [],
  );
}

interface Connecting extends Pick<Serving, "servers" | "folder" | "parts" | "options"> {
  /** Grows with each server. */
  readonly sources: (NamedServer & Suggested)[];
}

async function connectAll(
  kernel: Kernel,
  { servers, folder, parts, options, sources }: Connecting,
  io: CommandIo,
): Promise<void> {
  for (const server of servers)
    sources.push({
      ...server,
      source: await connect(kernel, server, folder, parts, {
        shared: options["shared"] === true,
        ...sourceNotes(io, options, `${server.name}: `),
      }),
    });
}

/** @throws {Unusable} where the server cannot be reached: a client would miss its tools without a word */
async function connect(
  kernel: Kernel,
  { name, endpoint }: NamedServer,
  folder: string,
  { common, node }: McpParts,
  more: Pick<McpSourceOptions, "shared"> & ReturnType<typeof sourceNotes>,
): Promise<McpSource> {
  try {
    return await common.mcpSource(kernel, {
      name,
      server: endpoint,
      pins: node.filePins(join(folder, `pins-${name}.json`)),
      ...more,
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

async function overHttp(
  start: Start<ServedKernel>,
  typedPort: string,
  variable: string | undefined,
  { common, node }: McpParts,
  io: CommandIo,
): Promise<void> {
  const { caller, session } = start;
  const { served, close } = await sharingHost(start, io);
  try {
    served.hidden(caller);
    const port = /^\d{1,5}$/.test(typedPort) ? Number(typedPort) : Number.NaN;
    if (!(port <= 65_535)) throw new Unusable(`--http takes a port from 0 to 65535; got ${visible(typedPort)}.`);
    const given = variable === undefined ? undefined : process.env[variable];
    if (variable !== undefined && given === undefined)
      throw new Unusable(`The environment variable ${visible(variable)} is not set.`);
    const token = given ?? crypto.randomUUID();
    const authenticate = common.bearerTokens([[token, { caller, sessionId: session }]]);
    const server = await listening(port, () => node.serveMcpHttp(served.kernel, { ...served.mcp, port, authenticate }));
    await io.print(
      `${server.url}\n${given === undefined ? `The token of the caller ${visible(caller)}: ${token}\n` : ""}`,
    );
    await interrupted(io);
    await server.close();
  } finally {
    await close();
  }
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
