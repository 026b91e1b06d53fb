import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createKernel, defineTool, type JsonObject, type JsonValue, type Kernel } from "@keyhole/kernel";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** A tool as its package publishes it. */
export interface PublishedTool {
  readonly package: string;
  /** As the kernel takes it: published names also have capital letters and `-`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** Packages of npm that serve tools over stdio and list them without a network: what starts each. */
const servers = [
  ["@modelcontextprotocol/server-github", "dist/index.js"],
  ["@notionhq/notion-mcp-server", "bin/cli.mjs"],
  ["@playwright/mcp", "cli.js"],
  ["chrome-devtools-mcp", "build/src/bin/chrome-devtools-mcp.js", "--no-usage-statistics"],
] as const;

const { resolve } = createRequire(import.meta.url);

/** The tools of all servers. */
export async function publishedTools(): Promise<readonly PublishedTool[]> {
  return (await Promise.all(servers.map(toolsOf))).flat();
}

async function toolsOf([name, file, ...args]: (typeof servers)[number]): Promise<readonly PublishedTool[]> {
  const path = join(dirname(resolve(`${name}/package.json`)), file);
  const client = new Client({ name: "keyhole", version: "1.0.0" });
  const env = { PATH: String(process.env["PATH"]), NOTION_TOKEN: "none" };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [path, ...args], stderr: "ignore", env }),
  );
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name: published, description = "", inputSchema }) => ({
    package: name,
    name: published.toLowerCase().replaceAll(/[^a-z0-9_]/g, "_"),
    description,
    inputSchema: inputSchema as JsonObject,
  }));
}

/** A kernel with all of them; each gives its input back. */
export async function kernelOf(tools: readonly PublishedTool[]): Promise<Kernel> {
  const kernel = await createKernel({ policy: { version: "1", posture: "permissive" } });
  for (const { name, description, inputSchema } of tools) {
    const execute = (given: unknown): JsonValue => ({ name, given: given as JsonValue });
    const registered = kernel.registerTrusted(
      defineTool({ name, version: "1.0.0", description, input: inputSchema, output: { kind: "json" }, execute }),
    );
    if (!registered.ok) throw new Error(`${name}: ${registered.error.message} ${registered.error.path}`);
  }
  return kernel;
}

/** An input that the schema accepts: its required members, each the simplest. */
export function sampleOf(schema: JsonValue | undefined, root: JsonObject): JsonValue {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "x";
  const given = schema as JsonObject;
  if (typeof given["$ref"] === "string") return sampleOf(referred(given["$ref"], root), root);
  if (given["const"] !== undefined) return given["const"];
  for (const keyword of ["enum", "examples"]) {
    const list: unknown = given[keyword];
    if (Array.isArray(list) && list.length > 0) return list[0] as JsonValue;
  }
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const list: unknown = given[keyword];
    if (Array.isArray(list)) return sampleOf(list[0] as JsonValue, root);
  }
  const type = Array.isArray(given["type"]) ? (given["type"][0] as JsonValue) : given["type"];
  if (type === "object" || given["properties"] !== undefined) return sampleObject(given, root);
  if (type === "array") {
    const least = typeof given["minItems"] === "number" ? given["minItems"] : 0;
    return Array.from({ length: least }, () => sampleOf(given["items"], root));
  }
  if (type === "integer" || type === "number") return typeof given["minimum"] === "number" ? given["minimum"] : 1;
  if (type === "boolean") return true;
  if (type === "null") return null;
  return sampleText(given);
}

function sampleObject({ properties, required }: JsonObject, root: JsonObject): JsonObject {
  const members = (properties ?? {}) as JsonObject;
  const names = Array.isArray(required) ? (required as string[]) : [];
  return Object.fromEntries(names.map((name) => [name, sampleOf(members[name], root)]));
}

function sampleText({ format, minLength, pattern }: JsonObject): string {
  if (format === "uri") return "https://example.com/";
  if (format === "uuid") return "00000000-0000-4000-8000-000000000000";
  if (format === "date") return "2026-01-01";
  if (format === "date-time") return "2026-01-01T00:00:00Z";
  if (format === "email") return "ann@example.com";
  if (pattern !== undefined) return "a";
  return "x".repeat(typeof minLength === "number" ? Math.max(1, minLength) : 1);
}

function referred(reference: string, root: JsonObject): JsonValue | undefined {
  let found: JsonValue | undefined = root;
  for (const name of reference.slice(2).split("/")) found = (found as JsonObject | undefined)?.[name];
  return found;
}
