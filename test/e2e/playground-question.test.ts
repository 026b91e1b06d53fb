import type { Locator } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { servePage, type Site } from "./playground/site.ts";
import { choose, endOf, eventsOf, field, run, Visits, type Visitor } from "./playground/visitor.ts";

let site: Site;
let visits: Visits;
let visitor: Visitor;

beforeAll(async () => {
  [site, visits] = await Promise.all([servePage(), Visits.open()]);
  visitor = await visits.visit(site.origin);
});

afterAll(async () => {
  await visits?.close();
  await site?.close();
});

const ask = async (line: string): Promise<Locator> => {
  const { page } = visitor;
  await field(page, "note").fill("journal");
  await field(page, "line").fill(line);
  await run(page);
  return page.getByRole("alertdialog");
};

describe("a question over the page", () => {
  it("allows nothing before each argument was in sight", async () => {
    const { page } = visitor;
    await choose(page, "append_note");
    const dialog = await ask("x".repeat(400));
    await dialog.getByText(/1 argument not seen/).waitFor();
    const allow = dialog.getByRole("button", { name: "Allow once" });
    expect(await allow.getAttribute("aria-disabled")).toBe("true");
    await dialog.getByRole("button", { name: /^Show all of line/ }).click();
    await dialog.locator(".seen-end").last().scrollIntoViewIfNeeded();
    await dialog.getByText(/not seen/).waitFor({ state: "detached" });
    await dialog.locator("button[data-look=primary]:not([aria-disabled=true])").waitFor();
    await dialog.getByRole("button", { name: "Deny" }).click();
    expect(await endOf(page)).toBe("Refused");
  });

  it("takes the reason of a denial at once, and shows a pattern that a person chose", async () => {
    const { page } = visitor;
    await choose(page, "append_note");
    const dialog = await ask("at once");
    await dialog.getByRole("radio", { name: "A pattern" }).click();
    await expect.poll(() => dialog.getByRole("combobox", { name: /^note/ }).isVisible()).toBe(true);
    const reason = dialog.getByRole("textbox", { name: /^Reason for denying/ });
    await reason.click();
    await page.keyboard.type("wrong note");
    expect(await reason.inputValue()).toBe("wrong note");
    await dialog.getByRole("button", { name: "Deny" }).click();
    expect(await endOf(page)).toBe("Refused");
  });

  it("is void in LOCKDOWN, which a mouse can press, and so can it kill the call", async () => {
    const { page } = visitor;
    await choose(page, "append_note");
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await (await ask("never")).getByRole("button", { name: /^Kill/ }).click();
      await page.getByRole("alertdialog").waitFor({ state: "detached" });
    }
    await (await ask("never")).getByRole("button", { name: "LOCKDOWN" }).click();
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    expect(await eventsOf(page)).not.toContain("tool.started");
    await page.getByRole("button", { name: "Back to NORMAL" }).click();
  });

  it("does not take what its own buttons cover for seen, in the agent's card", async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 1366, height: 657 });
    await page.getByRole("link", { name: "Agent" }).click();
    await page.getByRole("textbox", { name: "Message to the agent" }).click();
    await page.keyboard.type("go");
    await page.keyboard.press("Enter");
    const card = page.getByRole("article", { name: "Call of write_file" });
    const allow = card.getByRole("button", { name: "Allow once" });
    await card.getByText(/arguments? not seen/).waitFor();
    await page.mouse.move(300, 300);
    await expect.poll(() => allow.getAttribute("aria-disabled")).toBe("true");
    await page.mouse.wheel(0, 120);
    await card.getByText(/not seen/).waitFor({ state: "detached" });
    await expect.poll(() => allow.getAttribute("aria-disabled")).toBe(null);
    await page.mouse.move(310, 310);
    await card.getByRole("button", { name: "Deny" }).click();
    await card.getByText("Refused", { exact: true }).waitFor();
  });
});
