import { readFileSync } from "node:fs";
import { aiSdkTool, anthropicTool, type JsonObject, mcpTool, openAiTool } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { describe, expect, it } from "vitest";
import { manifest, writer, wrongTools } from "./surface.ts";

/** The result of `tools/list` as the MCP SDK checks it. Written by test/peers/mcp, which asks the SDK itself. */
const listed = compileSchema(
  JSON.parse(readFileSync(new URL("mcp-tools.schema.json", import.meta.url), "utf8")) as JsonObject,
);
if (!listed.ok) throw new Error(listed.error.message);
const { check } = listed.validator;

describe("one manifest", () => {
  it("is an MCP tool by the schema of the MCP SDK", () => {
    const tools = [mcpTool(manifest), mcpTool(writer)];
    expect(check({ tools })).toBe(true);
    expect(wrongTools(mcpTool(writer)).filter((tool) => check({ tools: [tool] }))).toEqual([]);
    expect(tools[0]).toMatchObject({
      outputSchema: manifest.output.schema,
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    });
    expect(tools[1]).toMatchObject({
      title: "Writes",
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    });
    expect(tools[1]).not.toHaveProperty("outputSchema");
  });

  it.each([
    [1, {}, { readOnlyHint: true, destructiveHint: false }],
    [2, {}, { readOnlyHint: false, destructiveHint: true }],
    [2, { idempotent: true }, { readOnlyHint: false, destructiveHint: false }],
    [3, { idempotent: true }, { readOnlyHint: false, destructiveHint: true }],
  ] as const)("of tier %i with %j has hints that follow from the tier", (tier, more, hints) => {
    expect(mcpTool({ ...manifest, tier, ...more }).annotations).toMatchObject(hints);
  });

  it("is a definition for OpenAI, Anthropic and the AI SDK", () => {
    const { name, description, input } = manifest;
    expect(openAiTool(manifest)).toEqual({ type: "function", name, description, parameters: input, strict: false });
    expect(anthropicTool(manifest)).toEqual({ name, description, input_schema: input });
    expect(aiSdkTool(manifest)).toEqual({ description, inputSchema: input });
  });
});
