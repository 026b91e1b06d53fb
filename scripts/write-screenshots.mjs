// Writes docs/playground.png: the playground after a call, as a person sees it. Builds the page, serves it and drives Chromium.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright";
import { chromiumArgs, findChromium } from "./chromium.mjs";
import { root } from "./project.mjs";
import { buildPlayground } from "./site/playground.mjs";

const types = new Map([
  [".html", "text/html"],
  [".js", "text/javascript"],
  [".css", "text/css"],
  [".svg", "image/svg+xml"],
  [".wasm", "application/wasm"],
]);
const folder = mkdtempSync(join(tmpdir(), "keyhole-playground-"));
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const file = join(folder, normalize(pathname === "/" ? "/index.html" : pathname));
  try {
    const content = readFileSync(file);
    response.writeHead(200, { "content-type": types.get(extname(file)) ?? "text/plain" }).end(content);
  } catch {
    response.writeHead(404).end();
  }
});

try {
  await buildPlayground(folder);
  await new Promise((resolve) => void server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const executablePath = findChromium();
  const browser = await chromium.launch({ args: [...chromiumArgs], ...(executablePath && { executablePath }) });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, colorScheme: "light" });
    await page.goto(`http://127.0.0.1:${address.port}/`);
    await page.getByRole("option", { name: /^calculator\b/ }).click();
    await page.getByRole("textbox", { name: /^expression\b/ }).fill("2^10 - sqrt(81) * (4 + 1)");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("region", { name: "The call" }).getByText("Completed").waitFor();
    await page.getByRole("tab", { name: /^Events/ }).click();
    await page.screenshot({ path: join(root, "docs", "playground.png"), animations: "disabled" });
    console.log("docs/playground.png");
  } finally {
    await browser.close();
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
