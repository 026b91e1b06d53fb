import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Locator,
  type Page,
} from "playwright";
import { inject, onTestFailed } from "vitest";
import { chromiumArgs, findChromium } from "../../../scripts/chromium.mjs";

/** Ends a test that hangs; the time that a test takes on a busy machine says nothing. */
const patienceMs = 120_000;
const wide = { width: 1280, height: 800 };

export function launch(): Promise<Browser> {
  const executablePath = findChromium();
  return chromium.launch({ args: [...chromiumArgs], ...(executablePath !== undefined && { executablePath }) });
}

/** A profile of its own, which waits as long as all tests do. */
export async function newContext(browser: Browser, options?: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(patienceMs);
  return context;
}

/** Tells of errors of scripts, and of everything that the page's policy blocked. */
export function noteComplaints(page: Page, note: (text: string) => void): void {
  page.on("pageerror", (error) => note(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") note(message.text());
  });
}

/** Somebody at the page. */
export interface Visitor {
  readonly page: Page;
  /** What the browser complained about: errors of scripts, and everything that the page's policy blocked. */
  readonly complaints: string[];
  /** Fails when there are complaints. */
  leave(): void;
}

export interface VisitOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  readonly reducedMotion?: "reduce";
}

let kept: Promise<Visits> | undefined;

/**
 * The visits of all test files of a worker, in one tab: another tab or another profile compiles everything anew, which costs a
 * visit two or three times as much. There is one visitor at a time.
 */
export class Visits {
  readonly browser: Browser;
  readonly #page: Page;
  readonly #devtools: CDPSession;
  #complaints: string[] = [];
  /** Where the tab is, if the next test may go on there. */
  #place: string | undefined;

  /** Whether the tab is the next file's, too. */
  readonly #isKept: boolean;

  private constructor(browser: Browser, page: Page, devtools: CDPSession, isKept: boolean) {
    [this.browser, this.#page, this.#devtools, this.#isKept] = [browser, page, devtools, isKept];
    noteComplaints(page, (text) => this.#complaints.push(text));
  }

  static open(): Promise<Visits> {
    return (kept ??= Visits.#connect());
  }

  /** In a browser of their own, which {@link close} ends. */
  static async apart(): Promise<Visits> {
    return Visits.#of(await launch(), false);
  }

  static async #connect(): Promise<Visits> {
    const answer = await fetch(`${inject("built")}/browser`);
    const said = await answer.text();
    if (!answer.ok) throw new Error(said);
    return Visits.#of(await chromium.connect(said), true);
  }

  static async #of(browser: Browser, isKept: boolean): Promise<Visits> {
    const context = await newContext(browser);
    const page = await context.newPage();
    return new Visits(browser, page, await context.newCDPSession(page), isKept);
  }

  /** Opens the page with empty storage. */
  async visit(address: string, { viewport = wide, ...media }: VisitOptions = {}): Promise<Visitor> {
    const { origin } = new URL(address);
    this.#place = undefined;
    if (this.#page.url().startsWith(origin)) await this.#page.evaluate(() => sessionStorage.clear());
    // What runs in the page ends, and lets go of the files that it holds.
    await this.#page.goto("about:blank");
    await this.#devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    await this.#page.setViewportSize(viewport);
    await this.#page.emulateMedia({ colorScheme: "light", reducedMotion: null, ...media });
    const complaints: string[] = [];
    this.#complaints = complaints;
    await this.#page.goto(address);
    await this.#page.getByText("Ready", { exact: true }).waitFor({ state: "attached" });
    return this.#visitor();
  }

  /** The page as the last test left it. After a test that failed or that called {@link spend} it is opened anew. */
  async again(address: string, options?: VisitOptions): Promise<Visitor> {
    if (this.#place !== address) {
      await this.visit(address, options);
      this.#place = address;
    }
    onTestFailed(() => this.spend());
    return this.#visitor();
  }

  /** The next test does not go on where this one is: it changed what the page keeps. */
  spend(): void {
    this.#place = undefined;
  }

  async close(): Promise<void> {
    this.spend();
    await (this.#isKept ? this.#page.goto("about:blank") : this.browser.close());
  }

  #visitor(): Visitor {
    const complaints = this.#complaints;
    return {
      page: this.#page,
      complaints,
      leave() {
        const said = complaints.splice(0);
        if (said.length > 0) throw new Error(`The browser complained: ${said.join("\n")}`);
      },
    };
  }
}

/** Agrees to the edge that a link offered. A mouse that never moved agrees to nothing. */
export async function agreeToEdge(page: Page): Promise<void> {
  await page.mouse.move(1, 1);
  await page.getByRole("button", { name: "Use this edge" }).click();
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

export async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run", exact: true }).click();
}

export type End = "Completed" | "Refused" | "Failed" | "Cancelled" | "No answer" | "Broken answer";

/** How the call ended. */
export async function endOf(page: Page): Promise<End> {
  const state = callOf(page).getByText(/^(?:Completed|Refused|Failed|Cancelled|No answer|Broken answer)$/);
  await state.waitFor();
  return (await state.textContent()) as End;
}

/** Makes a call that needs nothing. */
export async function echo(page: Page, message: string): Promise<End> {
  await choose(page, "echo");
  await field(page, "message").fill(message);
  await run(page);
  return endOf(page);
}

/** What the tool answered, as text or as JSON of several lines. */
export async function resultOf(page: Page): Promise<string> {
  await tabOf(page, "Result").click();
  const result = callOf(page).getByRole("region", { name: "Result" });
  await result.waitFor();
  const plain = result.getByRole("radio", { name: /^(?:Raw|Text)$/ }).last();
  if ((await plain.count()) > 0) await plain.check();
  const lines = result.getByRole("listitem");
  await lines.first().waitFor();
  return (await lines.allTextContents()).join("\n");
}

/** A view of the call. */
export function tabOf(page: Page, name: string): Locator {
  return callOf(page).getByRole("tab", { name: new RegExp(`^${name}\\b`) });
}

/** Waits until the call has come so far. */
export async function untilEvent(page: Page, type: string): Promise<void> {
  await tabOf(page, "Events").click();
  await callOf(page).getByText(type, { exact: true }).first().waitFor();
}

/** The input as JSON, beside the form. */
export async function jsonOf(page: Page): Promise<Locator> {
  const fold = page.getByRole("button", { name: "Input as JSON" });
  if ((await fold.getAttribute("aria-expanded")) === "false") await fold.click();
  return page.getByRole("textbox", { name: "Input as JSON" });
}

/** The events of the call, in the order of the page. */
export async function eventsOf(page: Page): Promise<readonly string[]> {
  await tabOf(page, "Events").click();
  return callOf(page).locator(".event-type").allTextContents();
}

export async function openPolicy(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Policy", exact: true }).click();
  await page.getByRole("main", { name: "Policy" }).getByRole("heading", { name: "Policy", exact: true }).waitFor();
}

export async function leavePolicy(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Call", exact: true }).click();
}

/** The text of the policy. */
export function policyEditor(page: Page): Locator {
  return page.getByRole("textbox", { name: "Policy (JSON)" });
}

/** Puts a text in the place of what stands in the editor, by keyboard: notes stand between its lines. */
export async function writePolicy(page: Page, text: string): Promise<void> {
  await policyEditor(page).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

/** Applies what stands in the draft. */
export async function applyDraft(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Apply…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Apply", exact: true }).click();
}

export async function applyPolicy(page: Page, edit: () => Promise<void>): Promise<void> {
  await openPolicy(page);
  await edit();
  await applyDraft(page);
  await page.locator("output", { hasText: /^In force$/ }).waitFor();
  await leavePolicy(page);
}

/** Uses a control of the policy screen, which holds at once: nothing is left to apply. */
export async function setPolicyControl(page: Page, use: () => Promise<void>): Promise<void> {
  await openPolicy(page);
  await page.getByRole("radio", { name: "Openings" }).click();
  await use();
  await page.locator("output", { hasText: /^In force$/ }).waitFor();
  await leavePolicy(page);
}

export async function allowHost(page: Page, host: string): Promise<void> {
  await setPolicyControl(page, async () => {
    await page.getByRole("textbox", { name: "Host that http_fetch may read" }).fill(host);
    await page.getByRole("button", { name: "Add host" }).click();
  });
}

/** The hash of the result. */
export async function hashOf(page: Page): Promise<string> {
  return (await callOf(page).locator(".hash-chip").getAttribute("title")) ?? "";
}

/** Tab until the element of that name has the focus. */
export async function focusNext(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
      return (
        [element?.getAttribute("aria-label"), ...labels.map((label) => label.textContent), element?.textContent].find(
          Boolean,
        ) ?? ""
      );
    });
    if (focused.trim().startsWith(name)) return;
  }
  throw new Error(`Tab does not reach ${name}.`);
}
