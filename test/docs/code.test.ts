import { describe, expect, it } from "vitest";
import { compile, complete, worker } from "./compile.ts";
import { parsePage, readPages } from "./markdown.ts";

describe("code in the documentation", () => {
  it("that is complete compiles, and what has drifted is found at its place", async () => {
    const pages = readPages();
    expect(pages.flatMap(({ blocks }) => blocks).filter(({ info }) => info === complete).length).toBeGreaterThan(3);
    const text = [
      "# Page",
      "",
      "```ts complete",
      'import { createKernel } from "@keyhole/kernel";',
      "",
      "await createKernel({ polcy: {} });",
      "```",
    ];
    // One run of the compiler: it reads the packages for seconds.
    const [error = "", ...more] = await compile([...pages, parsePage("docs/page.md", text.join("\n"))]);
    expect(error).toMatch(/^docs\/page\.md:6: error TS2561: .*'polcy'/);
    expect(more).toEqual([]);
    expect(await compile(pages, worker)).toEqual([]);
  });
});
