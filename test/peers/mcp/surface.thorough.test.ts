import { fileURLToPath } from "node:url";
import { mcpTool } from "@keyhole/kernel";
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { manifest, writer, wrongTools } from "../../kernel/surface.ts";

describe("the MCP SDK", () => {
  it("takes the definitions of tools as they are, and refuses wrong ones", () => {
    const tools = [mcpTool(manifest), mcpTool(writer)];
    expect(ListToolsResultSchema.parse({ tools }).tools).toEqual(tools);
    const wrong = wrongTools(mcpTool(writer));
    expect(wrong.filter((tool) => ListToolsResultSchema.safeParse({ tools: [tool] }).success)).toEqual([]);
  });

  it("has the schema that the quick suite compares with", async () => {
    const schema = z.toJSONSchema(ListToolsResultSchema, { io: "input", unrepresentable: "any" });
    const path = fileURLToPath(new URL("../../kernel/mcp-tools.schema.json", import.meta.url));
    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(path);
  });
});
