import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, posix } from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../../scripts/project.mjs";
import { root } from "../support/sources.ts";
import { serve, type Site } from "./playground/site.ts";
import { launch, newContext } from "./playground/visitor.ts";

const folder = join(root, "dist", "site");
let site: Site;
let browser: Browser;

beforeAll(async () => {
  const { code, output } = await run("npm", ["run", "-s", "docs"], { capture: true });
  if (code !== 0) throw new Error(output);
  site = await serve((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const file = path.endsWith("/") ? `${path}index.html` : extname(path) === "" ? `${path}.html` : path;
    const type = {
      ".html": "text/html",
      ".js": "text/javascript",
      ".css": "text/css",
      ".svg": "image/svg+xml",
      ".wasm": "application/wasm",
    };
    readFile(join(folder, file)).then(
      (content) =>
        response
          .writeHead(200, { "content-type": new Map(Object.entries(type)).get(extname(file)) ?? "text/plain" })
          .end(content),
      () => response.writeHead(404).end(),
    );
  });
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function open(path: string, options: Parameters<typeof newContext>[1]): Promise<Page> {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  await page.goto(site.origin + path);
  return page;
}

const files = (): readonly string[] => globSync("**/*.html", { cwd: folder }).filter((path) => path !== "404.html");

it("has pages whose links all lead to a page and a heading of it", () => {
  const texts = new Map(files().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  const faults = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/<a\b[^>]*\shref="(\/[^"]*|#[^"]*)"/g)].flatMap(([, href = ""]) => {
      const [file = "", anchor = ""] = href.split("#");
      const to = file === "" ? path : posix.join(".", file.endsWith("/") ? `${file}index.html` : `${file}.html`);
      const target = texts.get(to.replace(/^\//, ""));
      if (target === undefined) return [`${path}: ${href} leads nowhere`];
      return anchor === "" || target.includes(`id="${decodeURIComponent(anchor)}"`) ? [] : [`${path}: ${href}`];
    }),
  );
  expect(texts.size).toBeGreaterThan(90);
  expect(faults).toEqual([]);
});

it("finds a page by a word of its text", async () => {
  const page = await open("/", { viewport: { width: 1280, height: 800 } });
  await page.getByRole("button", { name: "Search" }).first().click();
  await page.getByRole("searchbox").or(page.getByPlaceholder("Search")).first().fill("passkey");
  await page.getByRole("option").first().click();
  await expect.poll(() => page.url()).toContain("passkey");
  await page.context().close();
});

it.each(["/", "/policy", "/errors/CAPABILITY_DENIED", "/reference/policy"])(
  "has a page %s that fits a phone, in both themes",
  async (path) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await open(path, { viewport: { width: 360, height: 740 }, colorScheme });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, colorScheme).toBeLessThanOrEqual(360);
      expect(await page.locator("h1").first().isVisible()).toBe(true);
      await page.context().close();
    }
  },
);

it("has the playground beside the pages, with a kernel that is ready", async () => {
  const page = await open("/start", { viewport: { width: 1280, height: 800 } });
  await page.getByRole("link", { name: "Playground" }).first().click();
  await page.getByText("Ready", { exact: true }).first().waitFor();
  expect(new URL(page.url()).pathname).toBe("/playground/");
  await page.context().close();
});
