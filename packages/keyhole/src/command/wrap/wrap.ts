import { createKernel, type Kernel } from "@keyhole/kernel";
import type { McpEndpoint, McpSource } from "@keyhole/mcp";
import type { ApprovalServer } from "@keyhole/mcp/node";
import { type CommandIo, type CommandOptions, type CommandResult, Unusable, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { addApprover, readApprovers } from "./approvers.ts";
import { makePasskey, openDesk } from "./desk.ts";
import manifest from "../../../package.json" with { type: "json" };
import { closeInOrder, loggedKernel } from "../run/logged-kernel.ts";
import { digestsOf, type Hello } from "../share/hello.ts";
import type { Served } from "../share/host.ts";
import { clientOf, serveClients } from "../share/serve-clients.ts";
import { healthNote } from "./health.ts";
import { type Home, homeFolder, logOf, makeFolder, openHome } from "./home.ts";
import { hiddenNote } from "./hidden.ts";
import { type McpParts, mcpParts } from "./parts.ts";
import { review, sourceNotes } from "./review.ts";
import { suggest } from "./suggest.ts";

/** Serves the tools of another server over stdio, each call under the policy of the wrapped server's folder, until the client goes. */
export async function wrap(command: readonly string[], options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const parts = await mcpParts();
  const name = optionOf(options, "name") ?? "";
  if (!isName(name))
    throw new Unusable(`The name of a source has 1 to 20 lower-case letters and digits; got ${JSON.stringify(name)}.`);
  const newApprover = optionOf(options, "newKey");
  if (newApprover !== undefined) {
    const folder = homeFolder(name, options, io);
    await makeFolder(folder);
    return addApprover(newApprover, { folder }, parts);
  }
  if (options["newPasskey"] === true) return makePasskey(parts, io);
  const endpoint = endpointOf(command, options, parts);
  const wrapped = { name, endpoint, options, parts };
  if (options["review"] === true || options["suggest"] === true) return lookAt(wrapped, io);
  const fsync = optionOf(options, "fsync") ?? "batch";
  if (fsync !== "batch" && fsync !== "second")
    throw new Unusable(`--fsync takes \`batch\` or \`second\`; got ${visible(fsync)}.`);
  const { folder } = await openHome(name, endpoint, options, io);
  const place = { folder, log: logOf(folder) };
  const start = { place, ...clientOf(options), parts: () => partsOf(command, wrapped, io) };
  return serveClients({ ...start, open: (noted) => open(wrapped, fsync, noted) }, io);
}

interface Wrapped {
  readonly name: string;
  readonly endpoint: McpEndpoint;
  readonly options: CommandOptions;
  readonly parts: McpParts;
}

/** Runs no call, so it needs neither log nor state. */
async function lookAt({ name, endpoint, options, parts }: Wrapped, io: CommandIo): Promise<CommandResult> {
  const home = await openHome(name, endpoint, options, io);
  const kernel = await createKernel({ policy: home.policy });
  let source: McpSource | undefined;
  try {
    source = await connect(kernel, { name, endpoint, options, parts }, home, io);
    return options["review"] === true ? await review(source, io) : suggest(kernel, [{ endpoint, source }]);
  } finally {
    await source?.close();
    await kernel.close();
  }
}

/** All that decides what this start serves. The server runs in the folder of the process that has the log open. */
async function partsOf(
  command: readonly string[],
  { name, endpoint, options }: Wrapped,
  io: CommandIo,
): Promise<Hello["parts"]> {
  const home = await openHome(name, endpoint, options, io);
  return digestsOf({
    version: manifest.version,
    server: [command, options["url"], options["shared"] === true],
    "working directory": command.length === 0 ? null : io.folder,
    variables: [variables(options["env"]), variables(options["header"])],
    "policy.json": home.policy,
    "approvers.json": await readApprovers(home),
  });
}

async function open(
  { name, endpoint, options, parts }: Wrapped,
  fsync: "batch" | "second",
  io: CommandIo,
): Promise<Served> {
  const home = await openHome(name, endpoint, options, io);
  const keys = await readApprovers(home);
  const { fileSink } = await import("@keyhole/worker-host/node");
  const log = logOf(home.folder);
  const sink = fileSink(log, { fsync });
  const kernel = await loggedKernel({ policy: home.policy }, sink);
  let source: McpSource | undefined;
  let desk: ApprovalServer | undefined;
  const close = (): Promise<void> =>
    closeInOrder(
      () => desk?.close(),
      () => source?.close(),
      () => kernel.close(),
      () => sink.close(),
    );
  try {
    io.note(await healthNote(kernel, log));
    source = await connect(kernel, { name, endpoint, options, parts }, home, io);
    desk = await openDesk({ keys, policy: home.policy }, parts, io);
  } catch (error) {
    await close();
    throw error;
  }
  const { definitionOf, methodOf, onListChange } = source;
  const served = { definitionOf, methodOf, onListChange, ...(desk && { approvals: desk }) };
  const { serveMcpStdio } = parts.node;
  const hidden = (caller: string): string => (source ? hiddenNote(kernel, caller, name, source) : "");
  return {
    connect(client, { caller, session }, onEnd) {
      io.note(hidden(caller));
      return serveMcpStdio(kernel, { ...served, ...client, caller: { caller, sessionId: session }, onEnd });
    },
    openCalls: async () => (await kernel.health()).openCalls,
    close,
  };
}

/** It is a folder's name as well. */
const isName = (name: string): boolean => /^[a-z][a-z0-9]{0,19}$/.test(name);

/** @throws {Unusable} */
function endpointOf(command: readonly string[], options: CommandOptions, { common, node }: McpParts): McpEndpoint {
  const url = optionOf(options, "url");
  const [program, ...args] = command;
  if ((url === undefined) === (program === undefined))
    throw new Unusable("Name one server: a command behind `--`, or `--url URL`.");
  const headers = variables(options["header"]);
  const env = variables(options["env"]);
  try {
    return program === undefined
      ? common.mcpHttp({ url: url ?? "", headers })
      : node.mcpProcess({ command: program, args, env });
  } catch (error) {
    if (error instanceof TypeError) throw new Unusable(visible(error.message), { cause: error });
    throw error;
  }
}

/** `NAME=VARIABLE`, or `VARIABLE` for both. @throws {Unusable} for a variable that is not set */
function variables(typed: unknown): Readonly<Record<string, string>> {
  const words = Array.isArray(typed) ? typed.filter((word) => typeof word === "string") : [];
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      const [name, variable] = at < 0 ? [word, word] : [word.slice(0, at), word.slice(at + 1)];
      const value = process.env[variable];
      if (value === undefined) throw new Unusable(`The environment variable ${visible(variable)} is not set.`);
      return [name, value];
    }),
  );
}

/** @throws {Unusable} where the server cannot be reached */
async function connect(
  kernel: Kernel,
  { name, endpoint: server, options, parts: { common, node } }: Wrapped,
  { pins }: Home,
  io: CommandIo,
): Promise<McpSource> {
  try {
    return await common.mcpSource(kernel, {
      name,
      server,
      pins: node.filePins(pins),
      shared: options["shared"] === true,
      ...sourceNotes(io, options),
    });
  } catch (error) {
    throw new Unusable(visible(error instanceof Error ? error.message : "The server failed."), { cause: error });
  }
}
