import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { servePage, type Site } from "./playground/site.ts";
import { launch, visit } from "./playground/visitor.ts";

let site: Site;
let browser: Browser;

beforeAll(async () => {
  [site, browser] = await Promise.all([servePage(), launch()]);
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Leaves no room in both storages of the page's origin. */
function fillStorage(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const storage of [localStorage, sessionStorage])
      for (let length = 1 << 22; length >= 1;) {
        try {
          storage.setItem("fill", (storage.getItem("fill") ?? "") + "x".repeat(length));
        } catch {
          length >>= 1;
        }
      }
  });
}

describe("the page with a full storage", () => {
  it("keeps a change of the colours, and says that the change is not saved", async () => {
    const visitor = await visit(browser, site.origin, { colorScheme: "light" });
    const { page } = visitor;
    await fillStorage(page);
    await page.getByRole("button", { name: /Change to light/ }).click();
    await page.getByRole("button", { name: /Change to dark/ }).click();
    await page.getByText("Not saved: the colours").waitFor();
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark");
    await visitor.leave();
  });

  it("says that an applied policy is in force, and that it is not saved", async () => {
    const visitor = await visit(browser, site.origin);
    const { page } = visitor;
    await fillStorage(page);
    await page.getByRole("button", { name: "Policy", exact: true }).click();
    await page.getByRole("radio", { name: "Strict" }).click();
    await page.getByText("In force, but not saved: a reload brings the last saved policy back").waitFor();
    await visitor.leave();
  });
});

describe("the page without storage", () => {
  it("starts, and says that a choice is not saved", async () => {
    const visitor = await visit(browser, site.origin);
    const { page } = visitor;
    await page.addInitScript(() => {
      for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(globalThis, name, {
          get() {
            throw new DOMException("refused", "SecurityError");
          },
        });
    });
    await page.reload();
    await page.getByText("Ready", { exact: true }).waitFor();
    await page.getByRole("button", { name: /Change to light/ }).click();
    await page.getByText("Not saved: the colours").waitFor();
    await visitor.leave();
  });
});
