import { readFile } from "node:fs/promises";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright";
import { chromiumArgs, findChromium } from "../../../scripts/chromium.mjs";

export function launch(): Promise<Browser> {
  const executablePath = findChromium();
  return chromium.launch({ args: [...chromiumArgs], ...(executablePath !== undefined && { executablePath }) });
}

/** Somebody at the page, with a browser profile of their own. */
export interface Visitor {
  readonly page: Page;
  /** What the browser complained about: errors of scripts, and everything that the page's policy blocked. */
  readonly complaints: string[];
  /** Fails when there are complaints. */
  leave(): Promise<void>;
}

export async function visit(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  await page.goto(address);
  await page.getByText("Ready", { exact: true }).waitFor({ state: "attached" });
  return {
    page,
    complaints,
    async leave() {
      await context.close();
      if (complaints.length > 0) throw new Error(`The browser complained: ${complaints.join("\n")}`);
    },
  };
}

/** The part of the page that shows the running or last call. */
export function callOf(page: Page): Locator {
  return page.getByRole("region", { name: "The call" });
}

export async function choose(page: Page, tool: string): Promise<void> {
  await page.getByRole("option", { name: new RegExp(`^${tool}\\b`) }).click();
  await page.getByRole("heading", { name: tool, exact: true }).waitFor();
}

/** The field, by the beginning of its label. */
export function field(page: Page, label: string): Locator {
  return page.getByRole("textbox", { name: new RegExp(`^${label}\\b`) });
}

/** A file of somebody's: 2.9 MB that are no text. */
export const picture = Buffer.from(new Uint8Array(3_000_000).map((_, i) => (i * 7) & 255));

/** Chooses {@link picture} for a tool that takes a file. */
export async function giveFile(page: Page): Promise<void> {
  const file = { name: "picture.bin", mimeType: "application/octet-stream", buffer: picture };
  await page.locator("input[type=file]").setInputFiles(file);
}

/** Saves what the tool streamed, and reads what the browser put on disk. */
export async function save(page: Page, name: string): Promise<Buffer> {
  const downloading = page.waitForEvent("download");
  await callOf(page)
    .getByRole("button", { name: `Save ${name}` })
    .click();
  return readFile(await (await downloading).path());
}

export async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run", exact: true }).click();
}

export type End = "Completed" | "Refused" | "Failed" | "Cancelled" | "No answer";

/** How the call ended. */
export async function endOf(page: Page): Promise<End> {
  const state = callOf(page).getByText(/^(?:Completed|Refused|Failed|Cancelled|No answer)$/);
  await state.waitFor();
  return (await state.textContent()) as End;
}

/** The events of the call, in the order of the page. */
export async function eventsOf(page: Page): Promise<readonly string[]> {
  await callOf(page)
    .getByRole("tab", { name: /^Events/ })
    .click();
  return callOf(page).locator(".event-type").allTextContents();
}

export async function applyPolicy(page: Page, edit: () => Promise<void>): Promise<void> {
  await page.getByRole("button", { name: "Policy", exact: true }).click();
  await edit();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("In force", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Close Policy" }).click();
}

/** Uses a control of the policy panel, which holds at once: nothing is left to apply. */
export async function setPolicyControl(page: Page, use: () => Promise<void>): Promise<void> {
  await page.getByRole("button", { name: "Policy", exact: true }).click();
  await use();
  await page.locator("output", { hasText: /^In force$/ }).waitFor();
  await page.getByRole("button", { name: "Close Policy" }).click();
}

export async function allowHost(page: Page, host: string): Promise<void> {
  await setPolicyControl(page, async () => {
    await page.getByRole("textbox", { name: "Host that http_fetch may read" }).fill(host);
    await page.getByRole("button", { name: "Add host" }).click();
  });
}

/** The hash of the result. */
export async function hashOf(page: Page): Promise<string> {
  return (await callOf(page).locator(".result .hash code").textContent()) ?? "";
}
