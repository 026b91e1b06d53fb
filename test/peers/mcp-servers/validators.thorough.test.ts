import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { type McpJsonSchemaValidator, mcpJsonSchemaValidator } from "@keyhole/kernel/schema/mcp";
import { beforeAll, expect, it } from "vitest";
import { clientOf } from "../../mcp/support.ts";
import { sized } from "../../support/size.ts";
import { inputsFor } from "./inputs.ts";
import { entryOf, folder, servers } from "./wrapped.ts";

/* The tools of published servers, valid and mutated inputs: our validator beside the default ones of the MCP SDK, versions 1 and 2. */

interface PublishedTool {
  readonly name: string;
  readonly schema: unknown;
}

const tools: PublishedTool[] = [];
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "note.txt"), "A note.");
  for (const { entry, args = [], files = {} } of servers) {
    const variables = Object.entries(files).map(([name, path]) => [name, join(folder, path)]);
    const env = { ...process.env, ...Object.fromEntries(variables) } as Record<string, string>;
    const client = clientOf("2025-11-25");
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [entryOf(entry), ...args], env, stderr: "ignore" }),
    );
    for (const { name, inputSchema, outputSchema } of (await client.listTools()).tools) {
      tools.push({ name, schema: inputSchema });
      if (outputSchema) tools.push({ name: `${name} (output)`, schema: outputSchema });
    }
    await client.close();
  }
});

async function versionOne(): Promise<McpJsonSchemaValidator> {
  const require = createRequire(new URL("../mcp/package.json", import.meta.url));
  const path = require.resolve("@modelcontextprotocol/sdk/validation/ajv");
  const { AjvJsonSchemaValidator } = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as {
    AjvJsonSchemaValidator: new () => McpJsonSchemaValidator;
  };
  return new AjvJsonSchemaValidator();
}

it.each([
  ["2", async () => new AjvJsonSchemaValidator() as unknown as McpJsonSchemaValidator],
  ["1", versionOne],
] as const)("agrees with the default validator of version %s on every input", async (_, make) => {
  expect(tools.length).toBeGreaterThanOrEqual(100);
  const [own, theirs] = [mcpJsonSchemaValidator(), await make()];
  const counts = { valid: 0, invalid: 0 };
  const differences: string[] = [];
  for (const [at, { name, schema }] of tools.entries()) {
    const [judge, beside] = [own.getValidator(schema), theirs.getValidator(schema)];
    for (const input of inputsFor(schema, at, sized(100, 1_000))) {
      const valid = judge(input).valid;
      counts[valid ? "valid" : "invalid"]++;
      if (valid !== beside(input).valid) differences.push(`${name}: ${valid} for ${JSON.stringify(input)}`);
    }
  }
  expect(differences).toEqual([]);
  // Neither side can be right by one answer alone.
  expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(tools.length * 10);
});
