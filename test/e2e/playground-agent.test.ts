import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright";
import { afterAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer, type Turn } from "../peers/agents/model-server.ts";
import { Visiting } from "./playground/visiting.ts";
import { sized, thorough } from "../support/size.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { open } = new Visiting();
const servers: ModelServer[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function started(...turns: readonly Turn[]): Promise<ModelServer> {
  const server = await startModelServer(turns);
  servers.push(server);
  return server;
}

const agent = (page: Page) => page.getByRole("main", { name: "Agent" });
const card = (page: Page, tool: string) => agent(page).getByRole("article", { name: `Call of ${tool}` });

async function say(page: Page, text: string): Promise<void> {
  await agent(page).getByRole("textbox", { name: "Message to the agent" }).fill(text);
  await agent(page).getByRole("button", { name: "Send" }).click();
}

async function openAgent(): Promise<Page> {
  const page = await open({ reducedMotion: "reduce" });
  await page.getByRole("link", { name: "Agent" }).click();
  return page;
}

interface OwnModel {
  readonly name: "OpenAI-compatible endpoint" | "Anthropic";
  readonly server: ModelServer;
  readonly calls?: string;
  readonly tokens?: string;
}

async function choose(page: Page, { name, server, calls = "25", tokens = "100000" }: OwnModel): Promise<void> {
  await agent(page)
    .getByRole("button", { name: /Scripted|local/ })
    .click();
  const form = page.getByRole("form", { name: "Model and budget" });
  await form.getByLabel("Model", { exact: true }).selectOption({ label: name });
  await form.getByLabel("Address of the API").fill(server.url);
  await form.getByLabel("Name of the model").fill("local");
  await form.getByLabel("Key", { exact: true }).fill("sk-secret");
  await form.getByLabel("calls").fill(calls);
  await form.getByLabel("tokens").fill(tokens);
  await form.getByRole("button", { name: "Begin a new run" }).click();
}

/** What axe finds serious or worse, as `rule: element`, and whether the page is wider than its window. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    const { scrollWidth, clientWidth } = document.documentElement;
    return [
      ...(scrollWidth > clientWidth ? [`${scrollWidth} wide`] : []),
      ...violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) =>
          nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
        ),
    ];
  });
}

type Look = readonly [width: number, theme: "light" | "dark"];
const narrow: Look = [390, "dark"];
const looks = sized<readonly Look[]>([narrow], [narrow, [390, "light"], [1280, "dark"]]);

describe("the agent screen", () => {
  it("works without a key: cards with their decisions, a question in place, one trace, in any width and theme", async () => {
    const page = await openAgent();
    await say(page, "What can you do?");
    const question = card(page, "write_file").getByRole("button", { name: "Allow once" });
    await question.waitFor();
    expect(await page.getByRole("alertdialog").count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    await card(page, "write_file").locator("button:not([aria-disabled=true])", { hasText: "Allow once" }).waitFor();
    await question.click();
    await agent(page).getByText("Of 5 calls 4 succeeded.").waitFor();
    await card(page, "http_fetch").getByText("Refused").waitFor();
    await card(page, "read_file").getByText("Completed").waitFor();
    const budget = agent(page).getByLabel("Budget of the run");
    expect(await budget.innerText()).toMatch(/calls\s+5 of 25/);
    expect(await budget.innerText()).not.toMatch(/tokens\s+0 of/);
    const rows = agent(page).getByRole("region", { name: "Calls of the turn" }).getByRole("row");
    expect(await rows.count()).toBe(6);

    for (const [width, colorScheme] of looks) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await faultsOf(page)).toEqual([]);
    }
    const traces = await page.evaluate(async () => {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const asked = indexedDB.open("keyhole.session");
        asked.addEventListener("success", () => resolve(asked.result));
        asked.addEventListener("error", () => reject(new Error(asked.error?.message)));
      });
      const text = await new Promise<string>((resolve) => {
        const stores = [...database.objectStoreNames];
        const reading = database.transaction(stores);
        const all = stores.map((store) => reading.objectStore(store).getAll());
        reading.addEventListener("complete", () => resolve(JSON.stringify(all.map(({ result }) => result as unknown))));
      });
      database.close();
      return [...new Set(text.match(/00-[0-9a-f]{32}/g))];
    });
    expect(traces).toHaveLength(1);
  });

  if (thorough) {
    it.each(["OpenAI-compatible endpoint", "Anthropic"] as const)(
      "asks an endpoint with a key: %s, parallel and malformed calls, and nothing stores the key",
      async (name) => {
        const server = await started(
          [
            { id: "a", name: "calculator", arguments: '{"expression":"6 * 7"}' },
            { id: "b", name: "calculator", arguments: '{"expression":' },
            { id: "c", name: "no_such_tool", arguments: "{}" },
          ],
          "It is 42.",
        );
        const page = await openAgent();
        await choose(page, { name, server });
        await say(page, "Six times seven?");
        await agent(page).getByText("It is 42.").waitFor();
        await card(page, "calculator").getByText("Completed").waitFor();
        expect(await agent(page).getByText("Not called").count()).toBe(2);
        const { headers } = server;
        expect(
          headers.every((each) => `${each.authorization} ${String(each["x-api-key"])}`.includes("sk-secret")),
        ).toBe(true);
        expect(JSON.stringify(server.bodies)).not.toContain("sk-secret");
        const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
        expect(kept).not.toContain("sk-secret");
      },
    );
  }

  it("ends at the budget of calls, stops a call that never ends, and LOCKDOWN ends a turn", async () => {
    const spin = (id: string) => [{ id, name: "spin", arguments: "{}" }];
    const server = await started(
      [
        { id: "a", name: "echo", arguments: '{"message":"one"}' },
        { id: "b", name: "echo", arguments: '{"message":"two"}' },
      ],
      spin("c"),
      spin("d"),
    );
    const page = await openAgent();
    await choose(page, { name: "OpenAI-compatible endpoint", server, calls: "1" });
    await say(page, "Twice.");
    await agent(page).getByText("used up its budget of calls. Begin").waitFor();
    await choose(page, { name: "OpenAI-compatible endpoint", server });
    await say(page, "Spin.");
    await card(page, "spin").getByText("Running").waitFor();
    await agent(page).getByRole("button", { name: "Stop" }).click();
    await agent(page).getByText("You stopped the turn.").waitFor();
    await card(page, "spin").getByText("Cancelled", { exact: true }).waitFor();
    await say(page, "Again.");
    await card(page, "spin").last().getByText("Running").waitFor();
    await page.getByRole("button", { name: "LOCKDOWN" }).click();
    await agent(page).getByText("The kernel is in LOCKDOWN. The turn ended.").waitFor();
    await page.getByRole("button", { name: "Back to NORMAL" }).waitFor();
  });

  if (thorough) {
    it("shows hostile text as text, cuts what never ends, and stops an endpoint that is silent", async () => {
      const twice = { name: "echo", arguments: '{"message":"one"}' };
      const server = await started(
        `<img src=x onerror=alert(1)> \u202Egnp.exe ![](https://collector.example.net/x.png)`,
        "",
        { fault: "page" },
        { fault: "refusal" },
        { fault: "silent" },
        [
          { id: "a", ...twice },
          { id: "a", ...twice },
          { id: "\u202E", name: "<b>", arguments: "{}" },
        ],
        "Both.",
        { fault: "endless" },
        { fault: "endless" },
      );
      const page = await openAgent();
      await choose(page, { name: "OpenAI-compatible endpoint", server });
      await say(page, "Hello.");
      await agent(page).getByText("<img src=x onerror=alert(1)>").waitFor();
      expect(await agent(page).locator("img").count()).toBe(0);
      expect(await agent(page).innerText()).not.toContain("\u202E");
      await say(page, "Nothing.");
      await agent(page).getByText("The model did not answer. Its answer is empty.").waitFor();
      await say(page, "A page.");
      await agent(page).getByText("The model did not answer. Response stream ended").waitFor();
      await say(page, "A refusal.");
      const refusal = agent(page).getByText("The model did not answer. No. No.");
      await refusal.waitFor();
      expect((await refusal.innerText()).length).toBeLessThan(1_000);
      await say(page, "Silence.");
      await page.keyboard.press("Escape");
      await agent(page).getByText("You stopped the turn.").waitFor();
      await say(page, "One id twice.");
      await agent(page).getByText("Both.").waitFor();
      expect(
        await card(page, "echo")
          .filter({ hasText: /Completed|Answered without/ })
          .count(),
      ).toBe(2);
      await say(page, "Endless.");
      await agent(page).getByText("nevernever").waitFor();
      await page.keyboard.press("Escape");
      await agent(page).getByText("You stopped the turn.").nth(1).waitFor();
      await choose(page, { name: "OpenAI-compatible endpoint", server, tokens: "500" });
      await say(page, "Endless again.");
      await agent(page).getByText("used up its budget of tokens. Begin").waitFor();
    });
  }
});
