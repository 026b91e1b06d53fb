import { buffer } from "node:stream/consumers";
import type { Page } from "playwright";
import { callOf } from "./visitor.ts";

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
  return buffer(await (await downloading).createReadStream());
}
