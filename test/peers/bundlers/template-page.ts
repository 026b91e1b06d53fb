import type { Page } from "playwright";
import { expect } from "vitest";

/** Two calls wait. A second click, at the place of the first, meets the other question too early. */
export async function clickedInHaste(page: Page, note: object): Promise<void> {
  await page.getByLabel("Tool").selectOption("save_note");
  await page.getByLabel("Input").fill(JSON.stringify(note));
  for (const _ of [1, 2]) await page.getByRole("button", { name: "Call" }).click();
  await page.getByRole("button", { name: "Deny" }).dblclick();
  await expect.poll(() => page.textContent("#result")).toContain("APPROVAL_DENIED");
  // The second click answered nothing: the other question waits.
  await page.getByRole("button", { name: "Deny" }).click();
  await expect.poll(() => page.getByRole("alertdialog").count()).toBe(0);
}

export async function called(
  page: Page,
  tool: string,
  input: object,
  answer?: "Allow once" | "Deny",
): Promise<unknown> {
  await page.getByLabel("Tool").selectOption(tool);
  await page.getByLabel("Input").fill(JSON.stringify(input));
  await page.getByRole("button", { name: "Call" }).click();
  if (answer !== undefined) await page.getByRole("button", { name: answer }).click();
  await page.waitForFunction(() => !["", "…"].includes(document.querySelector("#result")!.textContent.trim()));
  return JSON.parse((await page.textContent("#result"))!);
}
