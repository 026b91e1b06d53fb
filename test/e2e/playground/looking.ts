import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import type { ElementHandle, Page } from "playwright";
import type { faultsInSight, fieldsInSight, middleOf, valueOf } from "./sight.ts";

const source = stripTypeScriptTypes(readFileSync(new URL("sight.ts", import.meta.url), "utf8"));
const names = "faultsInSight, fieldsInSight, middleOf, valueOf";

interface Sight {
  readonly faultsInSight: typeof faultsInSight;
  readonly fieldsInSight: typeof fieldsInSight;
  readonly middleOf: typeof middleOf;
  readonly valueOf: typeof valueOf;
}

declare global {
  interface Window {
    sight: Sight;
  }
}

/** Brings the functions of `sight.ts` into every document of the page from now on. */
export async function giveSight(page: Page): Promise<void> {
  const script = `window.sight = (() => { ${source.replaceAll(/^export /gm, "")}; return { ${names} }; })();`;
  await page.addInitScript({ content: script });
}

/** Until what loads is there and drawn. */
export async function untilDrawn(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector(".loading, [aria-busy=true]") === null);
  await page.evaluate(async () => {
    await document.fonts.ready;
    for (let frame = 0; frame < 2; frame++) await new Promise((done) => requestAnimationFrame(done));
  });
}

/** Texts over texts, cut texts, covered buttons. */
export async function look(page: Page): Promise<readonly string[]> {
  await untilDrawn(page);
  return page.evaluate(() => window.sight.faultsInSight());
}

/** Fields that a click and a key do not change. */
export async function typeEverywhere(page: Page): Promise<readonly string[]> {
  const list = await page.evaluateHandle(() => window.sight.fieldsInSight());
  const faults: string[] = [];
  for (const handle of (await list.getProperties()).values()) {
    const field = handle.asElement() as ElementHandle<HTMLElement> | null;
    if (field !== null && !(await takesKeys(page, field))) faults.push(`${await nameOf(field)} takes no click and key`);
  }
  return faults;
}

async function takesKeys(page: Page, field: ElementHandle<HTMLElement>): Promise<boolean> {
  const point = await field.evaluate((element) => {
    if (!element.isConnected) return undefined;
    element.scrollIntoView({ block: "nearest", behavior: "instant" });
    return window.sight.middleOf(element);
  });
  if (point === undefined) return true;
  const valueNow = (): Promise<string> => field.evaluate((element) => window.sight.valueOf(element));
  const before = await valueNow();
  await page.mouse.move(point.x - 3, point.y);
  await page.mouse.click(point.x, point.y);
  await page.keyboard.type("7");
  if ((await valueNow()) === before) return false;
  await page.keyboard.press("Backspace");
  if ((await field.getAttribute("aria-expanded")) === "true") await page.keyboard.press("Escape");
  return true;
}

function nameOf(field: ElementHandle<HTMLElement>): Promise<string> {
  return field.evaluate((element) => {
    const [label] = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
    return JSON.stringify(element.getAttribute("aria-label") ?? label?.innerText ?? element.className);
  });
}
