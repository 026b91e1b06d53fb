// Writes docs/playground.png: the playground after a call, as a person sees it. Builds the page, serves it and drives Chromium.
import { join } from "node:path";
import { chromium } from "playwright";
import { servePlayground } from "../packages/edge/src/dev/playground.ts";
import { chromiumArgs, findChromium } from "./chromium.mjs";
import { root } from "./project.mjs";
import { buildAll, isBuilt } from "./serve/build.mjs";
import { freePorts } from "./serve/ports.mjs";

if (!isBuilt()) await buildAll();
const [port = 0] = await freePorts(1);
const playground = await servePlayground(port);
if (playground === undefined) throw new Error("The playground was not built.");

try {
  const executablePath = findChromium();
  const browser = await chromium.launch({ args: [...chromiumArgs], ...(executablePath && { executablePath }) });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, colorScheme: "light" });
    await page.goto(`${playground.url}/`);
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
  await playground.stop();
}
