import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Page } from "playwright";
import type { Sight } from "./sight.ts";

declare global {
  var sight: Sight;
}

const entry = fileURLToPath(new URL("sight.ts", import.meta.url));
let script: Promise<string> | undefined;

async function bundle(): Promise<string> {
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "iife", write: false });
  return outputFiles[0]!.text;
}

/** Brings `sight.ts` into the document. */
export async function giveSight(page: Page): Promise<void> {
  await page.evaluate(await (script ??= bundle()));
}

/** Texts over texts, hidden and cut texts, covered buttons. */
export function look(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => sight.look());
}

/** Fields that a click and a key do not change. */
export async function typeEverywhere(page: Page): Promise<readonly string[]> {
  const count = await page.evaluate(() => sight.findFields());
  const faults: string[] = [];
  for (let at = 0; at < count; at++) {
    const aim = await page.evaluate((index) => sight.aim(index), at);
    // What another field held may have been the reason for this one.
    if (aim === undefined) continue;
    if (aim.point !== undefined) {
      await page.mouse.click(aim.point.x, aim.point.y);
      await page.keyboard.press("7");
    }
    if (await page.evaluate((index) => sight.hasChanged(index), at)) await page.keyboard.press("Backspace");
    else faults.push(`${aim.name} takes no click and key`);
  }
  return faults;
}
