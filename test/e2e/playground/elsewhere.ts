import type { Locator, Page } from "playwright";

/** Text for another field, with a pause before its last letter, while a question has the focus. */
export async function typeElsewhere(page: Page, ready: Locator): Promise<void> {
  await page.keyboard.type("thank");
  await ready.waitFor();
  await page.keyboard.press("s");
  await page.keyboard.press("Enter");
  await ready.waitFor();
}
