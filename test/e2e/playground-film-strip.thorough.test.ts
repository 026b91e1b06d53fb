import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
import { walkBuild, walkFirstTime } from "./playground/first-time.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();
/** `npm run write:film-strip` sets it. */
const writes = process.env["KEYHOLE_WRITE_FILM_STRIP"] === "1";
const sizes = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1440 },
] as const;

interface Frame {
  readonly title: string;
  readonly picture: Buffer;
}

/** The steps beside each other, at one height. */
async function strip(page: Page, frames: readonly Frame[], path: string): Promise<void> {
  const figures = frames.map(
    ({ title, picture }) =>
      `<figure><img src="data:image/png;base64,${picture.toString("base64")}" height="320"><figcaption>${title}</figcaption></figure>`,
  );
  const style = `body{margin:0;padding:12px;display:flex;gap:12px;width:max-content;background:#888;font:14px system-ui}figure{margin:0}`;
  await page.goto("about:blank");
  await page.setContent(`<!doctype html><style>${style}</style>${figures.join("")}`);
  const box = await page.evaluate(() => [document.body.offsetWidth, document.body.offsetHeight] as const);
  await page.setViewportSize({ width: box[0], height: box[1] });
  writeFileSync(path, await page.screenshot({ type: "jpeg", quality: 70 }));
}

describe.each(sizes)("the first ten minutes at $width pixels", (viewport) => {
  it.each(["light", "dark"] as const)("never scroll sideways, %s", async (colorScheme) => {
    const page = await visiting.open({ viewport, colorScheme, reducedMotion: "reduce" });
    const frames: Frame[] = [];
    const wide: string[] = [];
    const seen = async (title: string): Promise<void> => {
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (over !== 0) wide.push(`${title}: ${over}`);
      if (writes) frames.push({ title, picture: await page.screenshot() });
    };
    await walkFirstTime(page, seen);
    await walkBuild(page, seen);
    expect(wide).toEqual([]);
    const name = `playground-${viewport.width}-${colorScheme}.jpg`;
    if (writes) await strip(page, frames, fileURLToPath(new URL(`../../docs/pictures/${name}`, import.meta.url)));
  });
});
