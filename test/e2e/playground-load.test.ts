import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { pageFolder } from "./playground/site.ts";
import { field } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();

/** Of the page, before its kernel and its editors. */
const mostBytes = 162_016;

describe("the first load", () => {
  it("is small: scripts and styles that the page names, with gzip", async () => {
    await visiting.open();
    const html = await readFile(join(pageFolder, "index.html"), "utf8");
    const named = [...html.matchAll(/(?:src|href)="\.?\/(assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(2);
    const sizes = await Promise.all(named.map(async (path) => gzipSync(await readFile(join(pageFolder, path))).length));
    expect(sizes.reduce((sum, size) => sum + size, gzipSync(html).length)).toBeLessThan(mostBytes);
  });

  it("shows the tools and a form that can be filled in while the kernel does not start", async () => {
    const page = await visiting.open();
    await page.route(/kernel\.worker/, () => {}); // It never comes.
    await page.reload();
    await page.getByText("Starting", { exact: true }).waitFor({ state: "attached" });
    await page.getByRole("option", { name: /^echo/ }).click();
    await field(page, "message").fill("before the kernel");
    expect(await field(page, "message").inputValue()).toBe("before the kernel");
    await page.unroute(/kernel\.worker/);
  });
});
