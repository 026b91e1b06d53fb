import { stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";
import { type CommandIo, type CommandOptions, type CommandResult, readText, Unusable, visible } from "../io.ts";
import { parseWithComments } from "../json-file.ts";
import { optionOf } from "../options.ts";
import { writeWhole } from "../whole-file.ts";

/** Where clients have their servers. */
const members = ["mcpServers", "servers"];

/** Writes a client's configuration with each server wrapped, beside the one that it read. @throws {Unusable} */
export async function importConfig(file: string, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const config = parseWithComments(await readText(file, io.files), file);
  const member = serverMember(config);
  if (!isJsonObject(config) || member === undefined)
    throw new Unusable(`${visible(file)} names no servers; expected an object \`mcpServers\` or \`servers\`.`);
  const out = optionOf(options, "out") ?? beside(file);
  const servers = Object.entries(config[member] as JsonObject);
  const names = namesOf(servers.map(([name]) => name));
  const wrapped = servers.map(
    ([name, server]) => [name, wrappedServer(names.get(name) ?? "", server, io.program)] as const,
  );
  const changed = { ...config, [member]: Object.fromEntries(wrapped.map(([name, { server }]) => [name, server])) };
  await writeNew(out, `${JSON.stringify(changed, undefined, 2)}\n`, { like: file, folder: io.folder });
  const lines = wrapped.flatMap(([name, { server, note }], at) =>
    note === undefined
      ? [name, `  - ${shown(servers[at]?.[1])}`, `  + ${shown(server)}`]
      : [`${name} stays as it is: ${note}.`],
  );
  const left = serversIn(config).filter(({ at, server }) => at[0] !== member && !isWrapped(server, io.program));
  for (const { at } of left) lines.push(`${JSON.stringify(at.join("/"))} stays as it is: it is not in ${member}.`);
  const isWhole = left.length === 0 && wrapped.every(([, { server }]) => isWrapped(server, io.program));
  const made = wrapped.some(([, { note }]) => note === undefined);
  const next = "Each wrapped server asks about its calls. Make a key to answer: keyhole wrap --name NAME --new-key YOU";
  const output = [...lines, `written to ${out}`, ...(made ? [next] : [])].map((line) => `${visible(line)}\n`).join("");
  return { exitCode: isWhole ? 0 : 1, output };
}

/** Keys of a server stand in such a file: nobody may read the new one who may not read the old one. @throws {Unusable} */
async function writeNew(out: string, text: string, { like, folder }: { like: string; folder: string }): Promise<void> {
  const { mode } = await stat(resolve(folder, like));
  try {
    await writeWhole(resolve(folder, out), text, { isNew: true, mode: mode & 0o777 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    // The user's own file, or one that they have changed since.
    const why = error.code === "EEXIST" ? "is there. Name another file: --out." : `cannot be written: ${error.message}`;
    throw new Unusable(visible(`${out} ${why}`), { cause: error });
  }
}

/** A server as one line, without the values of its variables and headers: a terminal is looked at by others too. */
function shown(server: JsonValue | undefined): string {
  const hidden = (values: unknown): JsonObject | undefined =>
    isJsonObject(values) ? Object.fromEntries(Object.keys(values).map((name) => [name, "…"])) : undefined;
  if (!isJsonObject(server)) return JSON.stringify(server);
  const [env, headers] = [hidden(server["env"]), hidden(server["headers"])];
  return JSON.stringify({ ...server, ...(env && { env }), ...(headers && { headers }) });
}

/** The member of a client's configuration that names its servers. */
export function serverMember(config: JsonValue): string | undefined {
  return isJsonObject(config) ? members.find((name) => isJsonObject(config[name])) : undefined;
}

function beside(file: string): string {
  const extension = extname(file);
  return join(dirname(file), `${basename(file, extension)}.keyhole${extension}`);
}

/** Each server's name as `keyhole wrap` takes it, and no two the same. */
export function namesOf(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    names.map((name) => {
      const letters =
        name
          .toLowerCase()
          .replaceAll(/[^a-z0-9]/g, "")
          .replace(/^[0-9]+/, "")
          .slice(0, 16) || "server";
      let own = letters;
      for (let count = 2; taken.has(own); count++) own = `${letters}${count}`;
      taken.add(own);
      return [name, own];
    }),
  );
}

interface Wrapped {
  readonly server: JsonValue;
  /** Why it stays as it is. */
  readonly note?: string;
}

function wrappedServer(name: string, server: JsonValue, [node, file]: CommandIo["program"]): Wrapped {
  if (!isJsonObject(server)) return { server, note: "it is no object" };
  const { command, args = [], url, headers = {}, ...rest } = server;
  const start = [file, "wrap", "--name", name];
  const env = isJsonObject(rest["env"]) ? rest["env"] : {};
  if (isWrapped(server, [node, file])) return { server, note: "it is wrapped" };
  if (typeof command === "string" && isTexts(args)) {
    // The client gives the wrapper its `env`; the server gets those that are named here.
    const given = Object.keys(env).flatMap((variable) => ["--env", variable]);
    if (rest["envFile"] !== undefined)
      return { server, note: "its envFile names variables that the server would not get. Move them to env" };
    return { server: { ...rest, command: node, args: [...start, ...given, "--", command, ...args] } };
  }
  if (typeof url !== "string" || !isJsonObject(headers)) return { server, note: "it has neither a command nor a URL" };
  if (rest["type"] === "sse") return { server, note: "it speaks SSE, and keyhole Streamable HTTP" };
  // Other users of the machine can read the arguments of a process.
  const taken = new Set(Object.keys(env));
  const named = Object.entries(headers).map(([header, value]) => ({
    header,
    value,
    variable: variableOf(header, taken),
  }));
  const values = Object.fromEntries(named.map(({ variable, value }) => [variable, value]));
  const given = named.flatMap(({ header, variable }) => ["--header", `${header}=${variable}`]);
  const more = named.length > 0 && { env: { ...env, ...values } };
  const type = rest["type"] !== undefined && { type: "stdio" };
  return { server: { ...rest, ...type, ...more, command: node, args: [...start, "--url", url, ...given] } };
}

/** No two headers have one variable, and none has one of the server's own. */
function variableOf(header: string, taken: Set<string>): string {
  const letters = `KEYHOLE_HEADER_${header.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
  let own = letters;
  for (let count = 2; taken.has(own); count++) own = `${letters}_${count}`;
  taken.add(own);
  return own;
}

/** By its form alone: this very program, which wraps. A server's own arguments do not count. */
function isWrapped(server: JsonValue, [node, file]: CommandIo["program"]): boolean {
  if (!isJsonObject(server) || server["command"] !== node || !Array.isArray(server["args"])) return false;
  const [program, verb, option] = server["args"] as readonly JsonValue[];
  return program === file && verb === "wrap" && option === "--name";
}

interface FoundServer {
  readonly at: readonly string[];
  readonly server: JsonObject;
}

/** All that has the form of a server, anywhere in a configuration: clients have them under other names, and in projects. */
function serversIn(value: JsonValue, at: readonly string[] = []): readonly FoundServer[] {
  if (typeof value !== "object" || value === null) return [];
  if (isJsonObject(value) && at.length > 1 && isServer(value, at.at(-2) ?? "")) return [{ at, server: value }];
  return Object.entries(value).flatMap(([name, each]) => serversIn(each, [...at, name]));
}

function isServer({ command, args, url }: JsonObject, around: string): boolean {
  const isAmongServers = /servers$/i.test(around);
  return typeof command === "string"
    ? isAmongServers || Array.isArray(args)
    : isAmongServers && typeof url === "string";
}

function isTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
