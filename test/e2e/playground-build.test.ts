import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { packTool } from "keyhole";
import type { Page } from "playwright";
import { afterAll, describe, expect, it } from "vitest";
import { writeLink } from "../../packages/playground/src/authoring/link.ts";
import { startSource } from "../../packages/playground/src/authoring/start-source.ts";
import { program, removePrograms } from "../vite/program.ts";
import { callOf, field } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";
import { thorough } from "../support/size.ts";

const visiting = new Visiting();
afterAll(removePrograms);

const editor = (page: Page) => page.getByRole("textbox", { name: "Source of the tool (TypeScript)" });
const packageHash = (page: Page) => page.getByRole("complementary", { name: "Manifest" }).locator("code[title]");

async function write(page: Page, source: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(source);
}

async function hashIs(page: Page, hash: string): Promise<void> {
  await expect.poll(() => packageHash(page).getAttribute("title"), { timeout: 120_000 }).toBe(hash);
}

describe("the build screen", () => {
  it("gives the hash of the command, names undeclared capabilities, runs the tool, and runs no link unasked", async () => {
    const page = await visiting.open();
    await page.getByRole("link", { name: "Build" }).click();
    const { package: pkg } = await packTool(`${program({ "tool.ts": startSource })}/tool.ts`);
    await hashIs(page, pkg.hash);
    await field(page, "text").fill("one two three");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await callOf(page).getByText("Completed", { exact: true }).waitFor();

    const greedy = startSource
      .replace("log(", "await fetch('https://example.com/'); log(")
      .replace("execute(", "async execute(");
    await write(page, greedy.replace("{ log }", "{ log, fetch }"));
    await page.getByText("uses net.read or net.write, not declared").first().waitFor();
    await page.getByRole("button", { name: "Declare net.read" }).click();
    await page
      .getByRole("complementary", { name: "Manifest" })
      .getByText(/example\.com/)
      .waitFor();
    await expect.poll(() => page.getByText("not declared").count()).toBe(0);

    await write(page, "export default {");
    await page.getByText("It cannot be packed").waitFor();
    // Outside of a field these are keys of the page.
    for (const key of ["`", "[", "/"]) await page.keyboard.press(key);
    await expect.poll(() => editor(page).innerText()).toMatch(/^export default \{`\[/);

    // What runs when a module is read would show in the title.
    const hostile = `document.title = "ran"; throw "</script>\u202e";\n`;
    const link = await writeLink(hostile + startSource.replace("word_count", "from_link"));
    await page.goto(`${visiting.site.origin}/#/build/${link}`);
    await page.getByText("Not run yet.").waitFor();
    await editor(page).getByText('"from_link"').waitFor();
    expect(await packageHash(page).count()).toBe(0);
    await page.getByRole("button", { name: "Pack and check it" }).click();
    await page.getByText("It cannot be packed").waitFor();
    expect(await page.title()).not.toBe("ran");
    await write(page, startSource.replace("word_count", "from_link"));
    await page.getByRole("complementary", { name: "Manifest" }).getByText("from_link").waitFor();
    await page.getByText("The kernel does not have this tool").waitFor();
    // Packed and checked, it still cannot be called, also after a look elsewhere.
    await page.getByRole("link", { name: "Call", exact: true }).click();
    await page.getByRole("option", { name: /^echo/ }).waitFor();
    expect(await page.getByRole("option", { name: /^from_link/ }).count()).toBe(0);
    await page.getByRole("link", { name: "Build" }).click();
    await page.getByRole("button", { name: "Give it to the kernel" }).click();
    await page.getByRole("link", { name: "Call", exact: true }).click();
    await page.getByRole("option", { name: /^from_link/ }).waitFor();
  });

  it.each([
    ["is too long", "A".repeat(1_500_000), "The link has 1,500,000 characters."],
    ["is markup", encodeURIComponent("<img src=x onerror=alert(1)>"), "The link is no base64url"],
    ["goes out of the address", "../../etc/passwd", "The link is no base64url"],
  ])("opens nothing of a link that %s", async (_, link, reason) => {
    const page = await visiting.again();
    await page.evaluate((hash) => (location.hash = hash), `#/build/${link}`);
    await page.getByText("It was not opened").waitFor();
    await page.getByRole("alert").getByText(reason).waitFor();
    await editor(page).getByText('"word_count"').waitFor();
    expect(new URL(page.url()).hash).toBe("#/build");
  });

  if (thorough) {
    it("takes a WebAssembly module with its manifest, and a module alone", async () => {
      const page = await visiting.open();
      await page.getByRole("link", { name: "Build" }).click();
      const folder = fileURLToPath(new URL("../../packages/playground/src/tools/primes/", import.meta.url));
      const { package: pkg } = await packTool(`${folder}primes.wasm`);
      await page.locator("input[type=file]").setInputFiles([`${folder}primes.wasm`, `${folder}primes.json`]);
      await page.getByRole("textbox", { name: "Manifest of the module (JSON)" }).waitFor();
      await hashIs(page, pkg.hash);
      const buffer = await readFile(`${folder}primes.wasm`);
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: "My Primes.wasm", mimeType: "application/wasm", buffer });
      await page.getByRole("complementary", { name: "Manifest" }).getByText("my_primes", { exact: true }).waitFor();
    });
  }
});
