import type { Locator, Page } from "playwright";
import { describe, expect, it } from "vitest";
import { callOf, endOf, run } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();
const { open } = visiting;

/** Chooses one tool after the other, until the line above Run says what a person looks for. */
async function chooseOneThat(page: Page, tools: Locator, foreseen: string): Promise<void> {
  for (const tool of await tools.all()) {
    await tool.click();
    const example = page.getByRole("button", { name: "Fill in an example" });
    if ((await example.count()) === 0) continue;
    await example.click();
    const answer = page.getByText(/^would (?:be allowed|be refused|ask)$/);
    await answer.waitFor();
    if ((await answer.textContent()) === foreseen) return;
  }
  throw new Error(`No tool ${foreseen}.`);
}

/** By what stands on the page alone: no tool is known before. */
describe("a person who has never seen the page", () => {
  it("is refused, learns why, changes the policy, succeeds, and approves a write", async () => {
    const page = await open();
    const tools = page.getByRole("listbox", { name: "Tools" });

    await chooseOneThat(page, tools.getByRole("group", { name: "Network" }).getByRole("option"), "would be refused");
    await run(page);
    expect(await endOf(page)).toBe("Refused");
    await callOf(page).getByRole("button", { name: "What would change this" }).click();
    await callOf(page).getByText("decided here").waitFor();
    await callOf(page).getByRole("button", { name: "Add to the policy" }).first().click();
    await callOf(page).getByText("In force. Run it again.").waitFor();
    await page.getByText("would be allowed").waitFor();
    await run(page);
    await page.getByRole("tab", { name: "Result" }).waitFor();
    expect(await endOf(page)).toBe("Completed");

    await chooseOneThat(page, tools.getByRole("group", { name: "Files" }).getByRole("option"), "would ask");
    await run(page);
    const question = page.getByRole("alertdialog");
    await question.waitFor();
    await page.mouse.move(1, 1);
    await question.getByRole("button", { name: "Allow once" }).click();
    await question.waitFor({ state: "detached" });
    expect(await endOf(page)).toBe("Completed");
    expect(await page.getByRole("region", { name: "Log of calls" }).getByRole("row").count()).toBe(4);
  });
});
