import { once } from "node:events";
import { createFullKernel, type Kernel } from "@keyhole/kernel";
import type { McpEndpoint, McpSource } from "@keyhole/mcp";
import type { ApprovalServer } from "@keyhole/mcp/node";
import { type CommandIo, type CommandOptions, type CommandResult, Unusable, visible } from "../io.ts";
import { optionOf } from "../options.ts";
import { addApprover, readApprovers } from "./approvers.ts";
import { makePasskey, openDesk } from "./desk.ts";
import { type Home, homeFolder, makeFolder, openHome } from "./home.ts";
import { freshNote } from "./fresh.ts";
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
  const home = await openHome(name, endpoint, options, io);
  io.note(freshNote(home.policy, options));
  const approvers = await readApprovers(home);
  const { fileSink } = await import("@keyhole/worker-host/node");
  const fsync = optionOf(options, "fsync") ?? "batch";
  if (fsync !== "batch" && fsync !== "second")
    throw new Unusable(`--fsync takes \`batch\` or \`second\`; got ${visible(fsync)}.`);
  const sink = fileSink(home.log, { fsync });
  const kernel = await createFullKernel({ policy: home.policy, sink });
  let source: McpSource | undefined;
  try {
    source = await connect(kernel, name, endpoint, home, parts, sourceNotes(io, options));
    if (options["review"] === true) return await review(source, io);
    if (options["suggest"] === true) return suggest(kernel, [{ endpoint, source }]);
    const caller = optionOf(options, "caller") ?? "client";
    io.note(hiddenNote(kernel, caller, name, source));
    const desk = await openDesk({ keys: approvers, policy: home.policy }, parts, io);
    try {
      return await serve(kernel, source, { caller, desk }, parts, io);
    } finally {
      await desk?.close();
    }
  } finally {
    await source?.close();
    await kernel.close();
    await sink.close();
  }
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
  name: string,
  server: McpEndpoint,
  { pins }: Home,
  { common, node }: McpParts,
  notes: ReturnType<typeof sourceNotes>,
): Promise<McpSource> {
  try {
    return await common.mcpSource(kernel, {
      name,
      server,
      pins: node.filePins(pins),
      ...notes,
    });
  } catch (error) {
    throw new Unusable(visible(error instanceof Error ? error.message : "The server failed."), { cause: error });
  }
}

async function serve(
  kernel: Kernel,
  source: McpSource,
  { caller, desk }: { readonly caller: string; readonly desk: ApprovalServer | undefined },
  { node }: McpParts,
  io: CommandIo,
): Promise<CommandResult> {
  const ended = Promise.withResolvers<void>();
  const { definitionOf, methodOf, onListChange } = source;
  const connection = node.serveMcpStdio(kernel, {
    caller: { caller },
    definitionOf,
    methodOf,
    onListChange,
    onEnd: ended.resolve,
    ...(desk && { approvals: desk }),
  });
  // A client ends its servers with it; the default would leave our server's own processes behind.
  const asked = once(process, "SIGTERM");
  const interrupted = once(io.signal, "abort");
  await Promise.race([ended.promise, asked, interrupted]);
  await connection.close();
  return { exitCode: io.signal.aborted ? 130 : 0, output: "" };
}
