import type { Locator, Page } from "playwright";
import { expect } from "vitest";
import { callOf, endOf, run } from "./visitor.ts";

/** Chooses one tool after the other, until the line above Run says what a person looks for. */
async function chooseOneThat(page: Page, tools: Locator, foreseen: string): Promise<void> {
  // On a narrow screen the tool takes the place of the list.
  const toList = async (): Promise<void> => {
    const back = page.getByRole("button", { name: "Back to the tools" });
    if (await back.isVisible()) await back.click();
  };
  await toList();
  const count = await tools.count();
  for (let at = 0; at < count; at++) {
    await toList();
    await tools.nth(at).click();
    const example = page.getByRole("button", { name: "Fill in an example" });
    if ((await example.count()) === 0) continue;
    await example.click();
    const answer = page.getByText(/^would (?:be allowed|be refused|ask)$/);
    await answer.waitFor();
    if ((await answer.textContent()) === foreseen) return;
  }
  throw new Error(`No tool ${foreseen}.`);
}

/**
 * The way of a person who has never seen the page, by what stands on it alone: a refusal, why, a changed policy, a success, an approved write, and its replay.
 *
 * @param seen is told each step, when its screen is there
 */
export async function walkFirstTime(page: Page, seen: (step: string) => Promise<void> = async () => {}): Promise<void> {
  const tools = page.getByRole("listbox", { name: "Tools" });
  await seen("start");
  await chooseOneThat(page, tools.getByRole("group", { name: "Network" }).getByRole("option"), "would be refused");
  await run(page);
  expect(await endOf(page)).toBe("Refused");
  await seen("refused");
  await callOf(page).getByRole("button", { name: "What would change this" }).click();
  await callOf(page).getByText("decided here").waitFor();
  // Keys go on from the changes: the pressed button is gone.
  const changes = callOf(page).getByRole("heading", { name: "What would change this" });
  await expect.poll(() => changes.evaluate((it) => it === document.activeElement)).toBe(true);
  await seen("decision");
  await callOf(page).getByRole("button", { name: "Add to the policy" }).first().click();
  await callOf(page).getByText("In force. Run it again.").waitFor();
  await page.getByText("would be allowed").waitFor();
  await run(page);
  await page.getByRole("tab", { name: "Result" }).waitFor();
  expect(await endOf(page)).toBe("Completed");
  await seen("completed");

  await chooseOneThat(page, tools.getByRole("group", { name: "Files" }).getByRole("option"), "would ask");
  await run(page);
  const question = page.getByRole("alertdialog");
  await question.waitFor();
  await seen("question");
  await page.mouse.move(1, 1);
  await question.getByRole("button", { name: "Allow once" }).click();
  await question.waitFor({ state: "detached" });
  expect(await endOf(page)).toBe("Completed");
  const log = page.getByRole("region", { name: "Log of calls" });
  // On a narrow screen it is one bar.
  const unfold = log.getByRole("button", { name: "Show the log of calls" });
  if (await unfold.isVisible()) await unfold.click();
  await expect.poll(() => log.getByRole("row").count()).toBe(4);

  await page.getByRole("link", { name: "Replay this run" }).click();
  const replay = page.getByRole("main", { name: "Replay" });
  await replay.getByText("all here, by their hashes").waitFor();
  await replay.getByRole("button", { name: "Replay", exact: true }).click();
  await replay.getByText("the same bytes, 1 call").waitFor();
  await seen("replayed");
}

/** Then a tool of their own, from the source that stands there. */
export async function walkBuild(page: Page, seen: (step: string) => Promise<void>): Promise<void> {
  await page.getByRole("link", { name: "Build", exact: true }).click();
  const build = page.getByRole("main", { name: "Build" });
  await build.getByRole("button", { name: "Fill in an example" }).click();
  await build.getByRole("button", { name: "Run", exact: true }).click();
  await build.getByText("Completed", { exact: true }).waitFor();
  await seen("built");
}
