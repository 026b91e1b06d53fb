import { firefox } from "playwright";
import { it } from "vitest";
import { findFirefox } from "../../scripts/engines.mjs";
import { walkFirstTime } from "./playground/first-time.ts";
import { servePage } from "./playground/site.ts";
import { newContext } from "./playground/visitor.ts";

/** Another engine: the page compiles, isolates and asks there as in Chromium. */
it("a person who has never seen the page is refused, changes the policy, succeeds and approves a write in Firefox", async ({
  skip,
}) => {
  const executablePath = findFirefox();
  if (executablePath === undefined) return skip("This machine has no Firefox.");
  const site = await servePage();
  const browser = await firefox.launch({ channel: "moz-firefox", executablePath });
  try {
    const page = await (await newContext(browser, { viewport: { width: 1280, height: 800 } })).newPage();
    await page.goto(site.origin);
    await page.getByText("Ready", { exact: true }).waitFor({ state: "attached" });
    await walkFirstTime(page);
  } finally {
    await browser.close();
    await site.close();
  }
});
