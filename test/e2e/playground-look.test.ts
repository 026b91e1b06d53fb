import type { Page } from "playwright";
import { expect, it, vi } from "vitest";
import { randomFrom } from "../support/random.ts";
import { connectTo, fakeEdge, fakeTool } from "./playground/fake-edge.ts";
import { giveSight, look, typeEverywhere } from "./playground/looking.ts";
import { callOf, choose, endOf, jsonOf, run } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();
const sizes = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
] as const;
const seed = Number(process.env["KEYHOLE_LOOK_SEED"] ?? 1);
const callCount = 5;

/** Each fault once, with the width and the screen where it was seen first. */
class Walk {
  readonly faults = new Map<string, string>();
  readonly page: Page;
  #size: (typeof sizes)[number] = sizes[1];

  constructor(page: Page) {
    this.page = page;
  }

  async see(place: string): Promise<void> {
    this.#note(place, await look(this.page));
  }

  async at(place: string, address: string): Promise<void> {
    await this.page.evaluate((hash) => (location.hash = hash), address);
    await this.page.locator("main:visible").waitFor();
    await this.see(place);
    this.#note(place, await typeEverywhere(this.page));
  }

  /** Presses each of them in turn, and looks. */
  async each(place: string, role: "tab" | "radio", part: string): Promise<void> {
    const all = this.page.locator(part).getByRole(role);
    for (let at = 0; at < (await all.count()); at++) {
      const one = all.nth(at);
      const name = (await one.getAttribute("value")) ?? (await one.innerText());
      await one.click();
      await this.see(`${place} ${name}`);
    }
  }

  /** The page as after a reload. */
  async reload(): Promise<void> {
    await this.page.evaluate(() => (location.hash = "#/"));
    await this.page.reload();
    await this.page.getByText("Ready", { exact: true }).waitFor({ state: "attached" });
    await giveSight(this.page);
  }

  /** Then the page has the size that it had. */
  async atEachSize(walk: () => Promise<void>): Promise<void> {
    const before = this.#size;
    for (const size of sizes) {
      await this.#resize(size);
      await walk();
    }
    await this.#resize(before);
  }

  /** What stands open. */
  async question(): Promise<void> {
    await this.atEachSize(() => this.see("Question"));
    await this.see("Question");
    this.#note("Question", await typeEverywhere(this.page));
  }

  async #resize(size: (typeof sizes)[number]): Promise<void> {
    this.#size = size;
    await this.page.setViewportSize(size);
  }

  async screens(): Promise<void> {
    await this.at("Call", "#/");
    await this.at("Timeline", "#/timeline");
    await this.at("Decide", "#/approvals");
    await this.at("Policy", "#/policy");
    await this.each("Policy", "radio", ".policy-edit > header");
    await this.at("Build", "#/build");
    await this.at("Agent", "#/agent");
    await this.at("Replay", "#/replay");
    await this.each("Replay", "radio", ".replay-screen > header");
    await this.page.keyboard.press("Control+k");
    const find = this.page.getByRole("dialog");
    await find.waitFor();
    await this.see("Find");
    await this.page.keyboard.press("Escape");
    await find.waitFor({ state: "detached" });
  }

  /** The form, its JSON and the result. */
  async call(id: string): Promise<void> {
    await this.page.evaluate((hash) => (location.hash = hash), `#/call/${id}`);
    await endOf(this.page);
    await jsonOf(this.page);
    await this.at("Call", `#/call/${id}`);
  }

  #note(place: string, faults: readonly string[]): void {
    for (const fault of faults) if (!this.faults.has(fault)) this.faults.set(fault, `${this.#size.width} ${place}`);
  }
}

/** Chooses a tool that the seed draws and that has an example, and fills the example in. */
async function draw(page: Page, random: () => number): Promise<void> {
  const options = page.getByRole("listbox", { name: "Tools" }).getByRole("option");
  await options.first().waitFor();
  const names = await options.locator(".tool-name").allInnerTexts();
  const example = page.getByRole("button", { name: "Fill in an example" });
  do await choose(page, names[Math.floor(random() * names.length)]!);
  while ((await example.count()) === 0);
  await example.click();
}

/** Runs the chosen tool, and allows what is asked. */
async function ended(page: Page, onQuestion: () => Promise<void>): Promise<string> {
  await run(page);
  const question = page.getByRole("alertdialog");
  const end = callOf(page).getByText(/^(?:Completed|Refused|Failed)$/);
  await question.or(end).first().waitFor();
  if (await question.isVisible()) {
    await onQuestion();
    // The end of each argument has to be seen.
    await question.hover();
    await page.mouse.wheel(0, 10_000);
    await question.getByRole("button", { name: "Allow once" }).click();
  }
  await endOf(page);
  return new URL(page.url()).hash.slice("#/call/".length);
}

/** A result of many columns. */
async function wideTable(page: Page): Promise<void> {
  await choose(page, "sql_query");
  const columns = Array.from({ length: 15 }, (_, at) => `'value ${at}' AS column_${at}`);
  const input = await jsonOf(page);
  await input.fill(JSON.stringify({ sql: `SELECT name, ${columns.join(", ")} FROM planets` }));
}

/** A call that the policy asks about. */
async function write(page: Page): Promise<void> {
  await choose(page, "write_file");
  const input = await jsonOf(page);
  await input.fill(JSON.stringify({ path: "workspace/seen.txt", content: "seen" }));
}

it("shows each text and takes each click at each size, empty", async () => {
  const walk = new Walk(await visiting.open({ reducedMotion: "reduce" }));
  await giveSight(walk.page);
  await walk.atEachSize(() => walk.screens());
  expect([...walk.faults]).toEqual([]);
});

it(`shows each text and takes each click at each size, after calls (seed ${seed})`, async () => {
  const walk = new Walk(await visiting.open({ reducedMotion: "reduce" }));
  const { page } = walk;
  await giveSight(page);
  const random = randomFrom(seed);
  const drawn = Array.from({ length: callCount }, () => () => draw(page, random));
  const onQuestion = vi.fn<() => Promise<void>>(() => walk.question());
  const ids: string[] = [];
  for (const fill of [...drawn, write, wideTable]) {
    await fill(page);
    ids.push(await ended(page, onQuestion));
  }
  await walk.reload();
  await walk.atEachSize(async () => {
    await walk.screens();
    for (const id of ids) await walk.call(id);
    await walk.each("Result", "radio", ".run");
    await walk.each("Call", "tab", ".run");
    await walk.at("Timeline of a call", `#/timeline/${ids[0]}`);
    await walk.at("Run", `#/replay/${ids.at(-1)}`);
  });
  expect(onQuestion).toHaveBeenCalled();
  expect([...walk.faults]).toEqual([]);
});

it("shows each text and takes each click at each size, beside an edge", async () => {
  const edge = await fakeEdge({ tools: [fakeTool("distant")], onCall: ({ end }) => end() });
  try {
    const walk = new Walk(await visiting.open({ reducedMotion: "reduce" }));
    await connectTo(walk.page, edge.origin);
    await walk.reload();
    await walk.atEachSize(async () => {
      await walk.at("Edge", "#/");
      const head = await walk.page.getByRole("banner").boundingBox();
      expect(head?.height, "one row").toBeLessThan(50);
    });
    expect([...walk.faults]).toEqual([]);
  } finally {
    await edge.close();
  }
});
