import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
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
const seed = Number(process.env["KEYHOLE_LOOK_SEED"] ?? Math.trunc(Math.random() * 1e6));
const callCount = 5;

/** Each fault once, with the size and the place where it was seen first. */
class Walk {
  readonly faults = new Map<string, string>();
  readonly page: Page;
  size: (typeof sizes)[number] = sizes[1];

  constructor(page: Page) {
    this.page = page;
  }

  async see(place: string): Promise<void> {
    this.note(place, await look(this.page));
  }

  note(place: string, faults: readonly string[]): void {
    for (const fault of faults) if (!this.faults.has(fault)) this.faults.set(fault, `${this.size.width} ${place}`);
  }

  async at(place: string, address: string): Promise<void> {
    await this.page.evaluate((hash) => (location.hash = hash), address);
    await this.page.locator("main:visible").waitFor();
    await this.see(place);
    this.note(place, await typeEverywhere(this.page));
  }

  /** Presses each of them in turn, and looks. */
  async each(place: string, role: "tab" | "radio", part: string): Promise<void> {
    const scope = this.page.locator(part);
    const all = scope.getByRole(role);
    for (let at = 0; at < (await all.count()); at++) {
      const one = all.nth(at);
      const name = (await one.getAttribute("value")) ?? (await one.innerText());
      await one.click();
      await this.see(`${place} ${name}`);
    }
  }

  /** The page in this size, as after a reload. */
  async resize(size: (typeof sizes)[number]): Promise<void> {
    this.size = size;
    await this.page.setViewportSize(size);
    await this.page.reload();
    await this.page.getByText("Ready", { exact: true }).waitFor({ state: "attached" });
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

  /** The form, its JSON and every view of the result. */
  async call(id: string): Promise<void> {
    await this.page.evaluate((hash) => (location.hash = hash), `#/call/${id}`);
    await endOf(this.page);
    await jsonOf(this.page);
    await this.at("Call", `#/call/${id}`);
    await this.each("Result", "radio", ".run");
  }
}

/** A call of a tool that the seed draws, with its example. */
async function draw(page: Page, random: () => number): Promise<string> {
  const options = page.getByRole("listbox", { name: "Tools" }).getByRole("option");
  const example = page.getByRole("button", { name: "Fill in an example" });
  do await options.nth(Math.floor(random() * (await options.count()))).click();
  while ((await example.count()) === 0);
  await example.click();
  await run(page);
  const question = page.getByRole("alertdialog");
  const end = callOf(page).getByText(/^(?:Completed|Refused|Failed)$/);
  await question.or(end).first().waitFor();
  if (await question.isVisible()) {
    await page.mouse.move(1, 1);
    await question.getByRole("button", { name: "Allow once" }).click();
  }
  await endOf(page);
  return callId(page);
}

/** A result of many columns. */
async function wideTable(page: Page): Promise<string> {
  await choose(page, "sql_query");
  const columns = Array.from({ length: 15 }, (_, at) => `'value ${at}' AS column_${at}`);
  const input = await jsonOf(page);
  await input.fill(JSON.stringify({ sql: `SELECT name, ${columns.join(", ")} FROM planets` }));
  await run(page);
  await endOf(page);
  return callId(page);
}

function callId(page: Page): string {
  return new URL(page.url()).hash.slice("#/call/".length);
}

describe("what a person sees", () => {
  it.each(sizes)(
    `is whole, apart and takes keys at $width pixels, empty and after calls (seed ${seed})`,
    async (size) => {
      const page = await visiting.open({ reducedMotion: "reduce" });
      await giveSight(page);
      const walk = new Walk(page);
      await walk.resize(size);
      await walk.screens();

      await walk.resize(sizes[1]);
      const random = randomFrom(seed);
      const ids: string[] = [];
      for (let at = 0; at < callCount; at++) ids.push(await draw(page, random));
      ids.push(await wideTable(page));
      await walk.resize(size);
      await walk.screens();
      for (const id of ids) await walk.call(id);
      await walk.each("Call", "tab", ".run");
      await walk.at("Timeline of a call", `#/timeline/${ids[0]}`);
      await walk.at("Run", `#/replay/${ids.at(-1)}`);
      expect([...walk.faults]).toEqual([]);
    },
  );

  it("is whole beside an edge", async () => {
    const edge = await fakeEdge({ tools: [fakeTool("distant")], onCall: ({ end }) => end() });
    try {
      const page = await visiting.open({ reducedMotion: "reduce" });
      const walk = new Walk(page);
      await connectTo(page, edge.origin);
      await giveSight(page);
      for (const size of sizes) {
        await walk.resize(size);
        await walk.at("Edge", "#/");
      }
      expect([...walk.faults]).toEqual([]);
    } finally {
      await edge.close();
    }
  });
});
