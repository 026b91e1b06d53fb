import type { Page } from "playwright";
import { describe, it } from "vitest";
import { choose, field } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const { open } = new Visiting();

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
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByRole("textbox", { name: "Input as JSON" }).fill("{");
    await foresight(page).getByText("the form needs an answer first").waitFor();
    await page.getByRole("textbox", { name: "Input as JSON" }).fill("{}");
    await foresight(page).getByText("would be refused").waitFor();
  });
});
