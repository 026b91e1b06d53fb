import { describe, expect, it } from "vitest";
import {
  applyDraft,
  applyPolicy,
  callOf,
  choose,
  endOf,
  eventsOf,
  field,
  jsonOf,
  leavePolicy,
  openPolicy,
  run,
  writePolicy,
} from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";
import { thorough } from "../support/size.ts";

const visiting = new Visiting();
/** `goOn` is for a test that does not mind what the one before did. */
const { open, again: goOn } = visiting;

describe("the form", () => {
  it("says what is wrong beside the field, and sends nothing", async () => {
    const page = await open();
    await choose(page, "echo");
    await run(page);
    await page.getByText("This field is required.").waitFor();
    const message = field(page, "message");
    expect(await message.getAttribute("aria-invalid")).toBe("true");
    // The focus follows the message.
    await expect.poll(() => message.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.getByText("Nothing has run yet").waitFor();

    await message.fill("now");
    await run(page);
    expect(await endOf(page)).toBe("Completed");
  });

  if (thorough) {
    it("makes lists of names and values for open objects", async () => {
      const page = await goOn();
      await choose(page, "http_fetch");
      await page.getByRole("button", { name: "Add to headers" }).click();
      await page.getByRole("textbox", { name: "Name 1 of headers" }).fill("accept");
      await field(page, "accept").fill("text/plain");
      const input: unknown = JSON.parse(await (await jsonOf(page)).inputValue());
      expect(input).toEqual({ method: "GET", bodyEncoding: "text", headers: { accept: "text/plain" } });
    });
  }

  it("sends JSON as it is written, so that the kernel's own refusal is seen", async () => {
    const page = await goOn();
    await choose(page, "echo");
    const input = await jsonOf(page);
    await input.fill('{ "message": 42, "__proto__": { "polluted": true } }');
    await run(page);
    expect(await endOf(page)).toBe("Refused");
    await callOf(page).getByText("INVALID_INPUT", { exact: true }).first().waitFor();
    expect(await eventsOf(page)).toEqual(["call.invoked", "tool.blocked"]);
    expect(await page.evaluate(() => "polluted" in {})).toBe(false);

    await input.fill("{ nonsense");
    await run(page);
    await page.getByText(/^This is not JSON: /).waitFor();
  });

  if (thorough) {
    it("opens the page of an error's code", async () => {
      const page = await goOn();
      visiting.visits.spend();
      await choose(page, "read_file");
      await field(page, "path").fill("outside.txt");
      await run(page);
      expect(await endOf(page)).toBe("Refused");
      await callOf(page).getByRole("button", { name: "About this code" }).click();
      await page
        .getByRole("dialog", { name: "CAPABILITY_DENIED" })
        .getByRole("heading", { name: "When it happens" })
        .waitFor();
    });
  }
});

describe("the policy", () => {
  it("is checked while it is written, with the kernel's own words", async () => {
    const page = await open();
    await openPolicy(page);
    const apply = page.getByRole("button", { name: "Apply…" });
    await writePolicy(page, '{ "version": "1" ');
    await page.getByRole("note").getByText("not JSON").waitFor();
    expect(await apply.isDisabled()).toBe(true);
    await writePolicy(page, '{ "version": "1", "posture": "standard", "grant": [] }');
    await page
      .getByRole("note")
      .getByText(/no property "grant"/)
      .waitFor();
    expect(await apply.isDisabled()).toBe(true);

    await writePolicy(page, '{ "version": "1", "posture": "strict" }');
    await applyDraft(page);
    await page.getByText("In force", { exact: true }).first().waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("decides the next call, and outlives a reload", async () => {
    const page = await open();
    const rule = { id: "no-echo", effect: "deny", when: { tool: ["echo"] }, reason: "Silence, please." };
    await applyPolicy(page, () =>
      writePolicy(page, JSON.stringify({ version: "1", posture: "standard", rules: [rule] })),
    );
    await page.reload();
    await choose(page, "echo");
    await field(page, "message").fill("hello?");
    await run(page);
    expect(await endOf(page)).toBe("Refused");
    await callOf(page)
      .getByText(/Silence, please/)
      .first()
      .waitFor();
    await callOf(page).getByRole("tab", { name: "Proof" }).click();
    await callOf(page).getByText("no-echo", { exact: true }).waitFor();
  });

  if (thorough) {
    it("has a mode that only tightens", async () => {
      const page = await open();
      await openPolicy(page);
      await page.getByRole("radio", { name: "Openings" }).click();
      await page.getByRole("combobox", { name: "Mode" }).selectOption("LOCKDOWN");
      await page.getByText("Every opening is closed.").waitFor();
      await leavePolicy(page);
      await choose(page, "list_directory");
      await run(page);
      expect(await endOf(page)).toBe("Refused");
      await callOf(page).getByText("POLICY_DENIED", { exact: true }).first().waitFor();
    });
  }
});
