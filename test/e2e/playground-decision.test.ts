import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
import { callOf, choose, endOf, field, jsonOf, run } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const { open } = new Visiting();

const stepsOf = (page: Page) => callOf(page).getByRole("list", { name: "Steps of the decision" });
const openDecision = (page: Page) => callOf(page).getByRole("tab", { name: "Decision" }).click();

const foresight = (page: Page) => page.getByText(/^If you run it now/).locator("..");

describe("what would be decided", () => {
  it("is said before anything runs, and again when the mode changes", async () => {
    const page = await open();
    await choose(page, "kv_put");
    await foresight(page).getByText("the form needs an answer first").waitFor();
    await field(page, "key").fill("workspace/page");
    await page.getByRole("textbox", { name: /^value/ }).fill('"written"');
    await foresight(page).getByText("would ask").waitFor();
    await page.getByRole("button", { name: "LOCKDOWN" }).click();
    await foresight(page).getByText("would be refused").waitFor();
    await page.getByRole("button", { name: "Back to NORMAL" }).click();
    await foresight(page).getByText("would ask").waitFor();
    await choose(page, "echo");
    await field(page, "message").fill("no harm");
    await foresight(page).getByText("would be allowed").waitFor();
    const json = await jsonOf(page);
    await json.fill("{");
    await foresight(page).getByText("the form needs an answer first").waitFor();
    await json.fill("{}");
    await foresight(page).getByText("would be refused").waitFor();
  });
});

describe("a refusal", () => {
  it("says which step decided, and is lifted by the narrowest grant with one press", async () => {
    const page = await open();
    await choose(page, "read_file");
    await field(page, "path").fill("elsewhere/today.txt");
    await run(page);
    expect(await endOf(page)).toBe("Refused");
    await openDecision(page);
    const decisive = stepsOf(page).getByRole("listitem").filter({ hasText: "decided here" });
    await decisive.getByText("fs.read of elsewhere/today.txt: not-granted.").waitFor();
    await callOf(page).getByText('+   "tool": "read_file",').waitFor();
    await callOf(page).getByRole("list", { name: "Levels of verification" }).getByText("unchanged").waitFor();
    await callOf(page).getByRole("button", { name: "Add to the policy" }).click();
    await callOf(page).getByText("In force. Run it again.").waitFor();
    await foresight(page).getByText("would be allowed").waitFor();
    await run(page);
    // Let in, and there is no such file.
    expect(await endOf(page)).toBe("Failed");
  });

  it("by a mode offers no grant", async () => {
    const page = await open();
    await choose(page, "read_file");
    await field(page, "path").fill("elsewhere/today.txt");
    await page.keyboard.press("Shift+Escape");
    await page.getByText("Every opening is closed.").waitFor();
    await choose(page, "kv_get");
    await field(page, "key").fill("workspace/none");
    await run(page);
    expect(await endOf(page)).toBe("Refused");
    await openDecision(page);
    const decisive = stepsOf(page).getByRole("listitem").filter({ hasText: "decided here" });
    await decisive.getByText("Mode decided here").waitFor();
    await callOf(page).getByText("Another mode.").waitFor();
    expect(await callOf(page).getByRole("button", { name: "Add to the policy" }).count()).toBe(0);
  });
});
