import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
import { startPolicy } from "../../packages/playground/src/kernel/default-policy.ts";
import {
  applyDraft,
  applyPolicy,
  callOf,
  echo,
  endOf,
  leavePolicy,
  openPolicy,
  policyEditor,
  run,
  writePolicy,
} from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";
import { thorough } from "../support/size.ts";

const visiting = new Visiting();
const { open } = visiting;

const simulation = (page: Page) => page.getByRole("complementary", { name: "Simulation" });
const noEcho = { id: "no-echo", effect: "deny", when: { tool: ["echo"] }, reason: "Silence." } as const;
const silent = JSON.stringify({ ...startPolicy, rules: [noEcho] });

describe("the policy screen", () => {
  it("says which calls of the session a draft changes, applies it after its difference, and takes it back", async () => {
    const page = await open();
    await echo(page, "hello");
    await openPolicy(page);
    await simulation(page).getByText("0 of 1 change").waitFor();
    await writePolicy(page, silent);
    await simulation(page).getByText("1 of 1 change").waitFor();
    const row = simulation(page).getByRole("list", { name: "Calls that change" }).getByRole("link");
    expect(await row.innerText()).toMatch(/echo[\s\S]*allow[\s\S]*deny/);

    await page.getByRole("button", { name: "Apply…" }).click();
    const dialog = page.getByRole("dialog", { name: "Apply this policy?" });
    await dialog.getByText("Of this session's 1 calls, 1 would be decided otherwise.").waitFor();
    await dialog
      .getByRole("region", { name: "Becomes refused" })
      .getByText(/calls of echo/)
      .first()
      .waitFor();
    await dialog
      .getByRole("region", { name: "Changed lines of the policy" })
      .getByText(/no-echo/)
      .waitFor();
    await dialog.getByRole("button", { name: "Go on editing" }).click();
    await page.getByText("Not applied yet").waitFor();
    await applyDraft(page);
    await page.getByText("In force", { exact: true }).waitFor();
    await leavePolicy(page);
    await run(page);
    expect(await endOf(page)).toBe("Refused");

    await openPolicy(page);
    await page.getByRole("button", { name: "Undo last apply" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Undo last apply" }).isDisabled()).toBe(true);
    await leavePolicy(page);
    await run(page);
    await callOf(page).getByText("Completed", { exact: true }).waitFor();
  });

  if (thorough) {
    it("keeps a draft over a reload, applies it by keyboard, and completes from the schema", async () => {
      const page = await open();
      await openPolicy(page);
      await writePolicy(page, silent);
      await page.getByText("Not applied yet").waitFor();
      await page.reload();
      await page.getByText("Not applied yet").waitFor();
      await policyEditor(page).getByText('"no-echo"').waitFor();
      await policyEditor(page).focus();
      await page.keyboard.press("Control+s");
      await page.getByRole("dialog", { name: "Apply this policy?" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Discard draft" }).click();
      await page.getByText("In force", { exact: true }).waitFor();

      await writePolicy(page, "{ }");
      // It replaces nodes at the caret, and an editor that has the focus for less than 200 ms takes their loss for a move.
      await policyEditor(page).getByText("refused").waitFor();
      await page.keyboard.press("Control+Home");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Control+Space");
      await page.getByRole("option", { name: /"posture"/ }).waitFor();
      await page.keyboard.press("Escape");
      // The keyboard gets out.
      await page.keyboard.press("Tab");
      expect(
        await policyEditor(page).evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement),
      ).toBeNull();
    });

    it("says what another tab applied, and takes it into the draft", async () => {
      const page = await open();
      const other = await page.context().newPage();
      try {
        await other.goto(visiting.site.origin);
        await other.getByText("Ready", { exact: true }).waitFor();
        await openPolicy(page);
        await page.getByRole("button", { name: "Templates" }).click();
        await page.getByRole("menuitem", { name: "Deny a host to all" }).click();
        await applyPolicy(other, () => writePolicy(other, silent));
        await page.getByText(/^Changed elsewhere at /).waitFor();
        await page.getByRole("button", { name: "Merge into the draft" }).click();
        await applyDraft(page);
        await page.getByText("In force", { exact: true }).waitFor();
        await expect.poll(() => page.getByText(/^Changed elsewhere/).count()).toBe(0);
        const stored = await page.evaluate(() => localStorage.getItem("keyhole.policy") ?? "");
        const rules = (JSON.parse(stored) as { rules: { id: string }[] }).rules.map(({ id }) => id);
        expect(rules.sort()).toEqual(["deny-host", "no-echo"]);
      } finally {
        await other.close();
      }
    });
  }

  it("stays while letters are typed behind the end of a list", async () => {
    const page = await open();
    await echo(page, "hello");
    await openPolicy(page);
    await simulation(page).getByText("0 of 1 change").waitFor();
    await policyEditor(page).getByText("],", { exact: true }).first().click();
    await page.keyboard.press("End");
    await page.keyboard.type("abc");
    await page.getByRole("note").getByText("not JSON").waitFor();
    expect(await policyEditor(page).innerText()).toContain("],abc");
  });

  it("shows scripts and hidden characters of a draft as text, and takes what is no draft for none", async () => {
    const page = await open();
    await page.evaluate(() => {
      const text = '{ "version": "1", "<img src=x onerror=alert(1)>": "a\u202eb" }';
      sessionStorage.setItem("keyhole.policy-draft", JSON.stringify({ text, base: "" }));
      sessionStorage.setItem("keyhole.earlier-policies", "{");
    });
    await openPolicy(page);
    await page
      .getByRole("note")
      .getByText(/expected the property/)
      .waitFor();
    expect(await page.locator("img[onerror]").count()).toBe(0);
    expect(await policyEditor(page).locator(".cm-specialChar").count()).toBe(1);
    await page.evaluate(() => sessionStorage.setItem("keyhole.policy-draft", "[1"));
    await page.reload();
    await page.getByText("In force", { exact: true }).waitFor();
  });
});
