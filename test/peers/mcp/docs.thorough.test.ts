import { expect, it } from "vitest";
import { compile, complete } from "../../docs/compile.ts";
import { readPages } from "../../docs/markdown.ts";

it("code in the documentation that imports the MCP SDK compiles", async () => {
  const mark = `${complete} mcp`;
  const pages = readPages();
  expect(pages.flatMap(({ blocks }) => blocks).filter(({ info }) => info === mark)).toHaveLength(1);
  expect(await compile(pages, mark, "test/peers/mcp/node_modules")).toEqual([]);
});
