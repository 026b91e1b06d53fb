import { describe, expect, it } from "vitest";
import { compile, complete, worker } from "./compile.ts";
import { parsePage, readPages } from "./markdown.ts";

describe("code in the documentation", () => {
  it("that is complete compiles", async () => {
    const pages = readPages();
    expect(pages.flatMap(({ blocks }) => blocks).filter(({ info }) => info === complete).length).toBeGreaterThan(3);
    expect(await compile(pages)).toEqual([]);
    expect(await compile(pages, worker)).toEqual([]);
  });

  it("that has drifted is found, at its place", async () => {
    const text = [
      "# Page",
      "",
      "```ts complete",
      'import { createFullKernel } from "@keyhole/kernel";',
      "",
      "await createFullKernel({ polcy: {} });",
      "```",
    ];
    const [error = "", ...more] = await compile([parsePage("docs/page.md", text.join("\n"))]);
    expect(error).toMatch(/^docs\/page\.md:6: error TS2561: .*'polcy'/);
    expect(more).toEqual([]);
  });
});
