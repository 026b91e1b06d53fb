import { aiSdkTool, anthropicTool, manifestOf, mcpTool, openAiTool } from "@keyhole/kernel";
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { echo, toolOf } from "../support/kernel.ts";

const manifest = manifestOf(echo, "module");
const writer = manifestOf(
  toolOf(() => null, {
    title: "Writes",
    determinism: "external",
    effects: ["net.write"],
    capabilities: [{ kind: "net.write", hosts: ["*"] }],
  }),
  "module",
);

describe("one manifest", () => {
  it("is an MCP tool that the SDK's own schema takes", () => {
    const tools = [mcpTool(manifest), mcpTool(writer)];
    expect(ListToolsResultSchema.parse({ tools }).tools).toEqual(tools);
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

  it("is a definition for OpenAI, Anthropic and the AI SDK", () => {
    const { name, description, input } = manifest;
    expect(openAiTool(manifest)).toEqual({ type: "function", name, description, parameters: input, strict: false });
    expect(anthropicTool(manifest)).toEqual({ name, description, input_schema: input });
    expect(aiSdkTool(manifest)).toEqual({ description, inputSchema: input });
  });
});
