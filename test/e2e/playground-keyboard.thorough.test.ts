import type { Page } from "playwright";
import { expect, it } from "vitest";
import { callOf, endOf, focusNext } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const { open } = new Visiting();

async function chooseTool(page: Page, name: string): Promise<void> {
  await page.keyboard.press("/");
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name, exact: true }).waitFor();
  await focusNext(page, "Fill in an example");
  await page.keyboard.press("Enter");
}

it("the keyboard alone leads from a refusal over a changed policy and an approved write to two calls compared", async () => {
  const page = await open();
  const { keyboard } = page;
  await chooseTool(page, "fetch_url");
  await keyboard.press("Control+Enter");
  expect(await endOf(page)).toBe("Refused");
  await focusNext(page, "What would change this");
  await keyboard.press("Enter");
  await callOf(page).getByText("decided here").waitFor();
  await focusNext(page, "Add to the policy");
  await keyboard.press("Enter");
  await callOf(page).getByText("In force. Run it again.").waitFor();
  await page.getByText("would be allowed").waitFor();
  await keyboard.press("Control+Enter");
  await page.getByRole("tab", { name: "Result" }).waitFor();
  expect(await endOf(page)).toBe("Completed");

  await chooseTool(page, "append_note");
  await keyboard.press("Control+Enter");
  const dialog = page.getByRole("alertdialog");
  await dialog.waitFor();
  await focusNext(page, "Allow once");
  await dialog.locator("button:focus:not([aria-disabled=true])").waitFor();
  await keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  expect(await endOf(page)).toBe("Completed");

  await keyboard.press("Alt+7");
  await page.getByRole("main", { name: "Replay" }).waitFor();
  await focusNext(page, "A run file");
  await keyboard.press("ArrowRight");
  await page.getByRole("region", { name: "Input", exact: true }).getByText("differs").waitFor();
});
