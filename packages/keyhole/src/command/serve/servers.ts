import { resolve } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";
import type { McpEndpoint } from "@keyhole/mcp";
import { type CommandIo, readText, Unusable, visible } from "../io.ts";
import { parseWithComments } from "../json-file.ts";
import { namesOf, serverMember } from "../wrap/import-config.ts";
import type { McpParts } from "../wrap/parts.ts";

export interface NamedServer {
  /** Begins the names of its tools. */
  readonly name: string;
  readonly endpoint: McpEndpoint;
}

/** The servers of a file in the form of a client's configuration. @throws {Unusable} for a server that is not whole: it would be missing without a word */
export async function readServers(
  file: string | undefined,
  parts: McpParts,
  io: CommandIo,
): Promise<readonly NamedServer[]> {
  if (file === undefined) return [];
  const config = parseWithComments(await readText(resolve(io.folder, file), io.files), file);
  const member = serverMember(config);
  const servers =
    isJsonObject(config) && member !== undefined ? Object.entries(config[member] as JsonObject) : undefined;
  if (!servers)
    throw new Unusable(`${visible(file)} names no servers; expected an object \`mcpServers\` or \`servers\`.`);
  const names = namesOf(servers.map(([name]) => name));
  return servers.map(([typed, server]) => {
    const endpoint = endpointOf(server, parts);
    if (typeof endpoint === "string") throw new Unusable(visible(`${file}: the server ${typed} ${endpoint}.`));
    return { name: names.get(typed) ?? typed, endpoint };
  });
}

/** Returns the endpoint, or the fault of the entry as the end of a sentence. */
function endpointOf(server: JsonValue, { common, node }: McpParts): McpEndpoint | string {
  if (!isJsonObject(server)) return "is no object";
  const { command, args = [], env = {}, cwd, url, headers = {} } = server;
  if ((command === undefined) === (url === undefined)) return "needs `command` or `url`, and not both";
  if (!isTexts(env)) return "has an `env` whose values are not all texts";
  if (!isTexts(headers)) return "has `headers` whose values are not all texts";
  if (!Array.isArray(args) || !args.every((each) => typeof each === "string")) return "has `args` that are no texts";
  if (cwd !== undefined && typeof cwd !== "string") return "has a `cwd` that is no text";
  try {
    if (typeof command === "string") return node.mcpProcess({ command, args, env, ...(cwd !== undefined && { cwd }) });
    return typeof url === "string" ? common.mcpHttp({ url, headers }) : "has a `command` or `url` that is no text";
  } catch (error) {
    if (error instanceof TypeError) return `cannot be used: ${error.message}`;
    throw error;
  }
}

function isTexts(value: JsonValue): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === "string");
}
