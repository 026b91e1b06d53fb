import { type BrowserType, chromium, firefox } from "playwright";
import { chromiumArgs, findChromium } from "../../../scripts/chromium.mjs";
import { findFirefox, findWebkit } from "../../../scripts/engines.mjs";
import { openWebkit } from "../../support/webkitgtk.ts";

type LaunchOptions = Parameters<BrowserType["launch"]>[0];

async function playwrightSays(engine: BrowserType, options: LaunchOptions, url: string): Promise<unknown> {
  const browser = await engine.launch(options);
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(url);
    await page.waitForFunction(() => document.body?.textContent?.startsWith("{"));
    return JSON.parse((await page.textContent("body")) ?? "");
  } finally {
    await browser.close();
  }
}

async function webkitSays(paths: NonNullable<ReturnType<typeof findWebkit>>, url: string): Promise<unknown> {
  const session = await openWebkit(paths, process.env);
  try {
    await session.open(url);
    for (;;) {
      const text = await session.text().catch(() => "");
      if (text.startsWith("{")) return JSON.parse(text);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    await session.close();
  }
}

/** For each engine of this machine: the JSON that a page writes into its body. */
export function engines(): ReadonlyMap<string, (url: string) => Promise<unknown>> {
  const [own, fox, webkit] = [findChromium(), findFirefox(), findWebkit()];
  const chromiumOptions = { args: [...chromiumArgs], ...(own !== undefined && { executablePath: own }) };
  return new Map([
    ["Chromium", (url: string) => playwrightSays(chromium, chromiumOptions, url)],
    ...(fox === undefined
      ? []
      : [
          [
            "Firefox",
            (url: string) => playwrightSays(firefox, { channel: "moz-firefox", executablePath: fox }, url),
          ] as const,
        ]),
    ...(webkit === undefined ? [] : [["WebKit", (url: string) => webkitSays(webkit, url)] as const]),
  ]);
}
