import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
import { thorough } from "../support/size.ts";
import { callOf, choose, endOf, field, focusNext, leavePolicy, run, tabOf, untilEvent } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const visiting = new Visiting();
const { open } = visiting;

const themes = thorough ? (["light", "dark"] as const) : (["light"] as const);

/** The findings of axe, of any impact, as `theme rule: element`: every rule in one theme, and in the thorough run colours in the other. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  const found: string[] = [];
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    // Colours change with the next frame, and then take their time.
    await page.evaluate(async () => {
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      for (const each of document.getAnimations()) each.finish();
    });
    const only = theme === "dark" ? ["color-contrast"] : undefined;
    found.push(
      ...(
        await page.evaluate(async (rules) => {
          const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
          const { violations } = await axe.run({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
          return violations.flatMap(({ id, nodes }) =>
            nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
          );
        }, only)
      ).map((each) => `${theme} ${each}`),
    );
  }
  return found;
}

describe("the keyboard", () => {
  it("is enough to find a tool, fill in its form, run it, and answer its question", async () => {
    const page = await open();
    const { keyboard } = page;
    await keyboard.press("/");
    await keyboard.type("append");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "append_note" }).waitFor();
    await focusNext(page, "note");
    await keyboard.type("journal");
    await focusNext(page, "line");
    await keyboard.type("without a mouse");
    await keyboard.press("Enter");

    const dialog = page.getByRole("alertdialog");
    await dialog.waitFor();
    // Neither Enter nor the space bar allows by accident: the focus is on the dialog itself.
    await keyboard.press("Enter");
    await keyboard.press(" ");
    await dialog.waitFor();
    await focusNext(page, "Allow once");
    // Right after keys that may have been meant for the form, the button does nothing.
    await dialog.locator("button:focus:not([aria-disabled=true])").waitFor();
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await keyboard.press("Enter");
    expect(await endOf(page)).toBe("Completed");

    // The field has the focus again, and there a slash is a slash.
    await focusNext(page, "Run");
    await keyboard.press("/");
    await keyboard.type("append_note zzz");
    await page.getByText("No tool matches “append_note zzz”").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("ArrowDown");
    await keyboard.press("ArrowDown");
    await page.getByRole("heading", { name: "base64_file" }).waitFor();
  });

  if (thorough) {
    it("stays at the form when the button that it pressed goes away", async () => {
      const page = await open();
      await choose(page, "spin");
      expect(await page.evaluate(() => document.activeElement?.textContent)).not.toContain("Run");
      await focusNext(page, "Run");
      await page.keyboard.press("Enter");
      await untilEvent(page, "tool.started");
      await focusNext(page, "Cancel");
      await page.keyboard.press("Enter");
      expect(await endOf(page)).toBe("Cancelled");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Run");
    });
  }
});

describe("the page", () => {
  if (thorough) {
    it("has no accessibility fault on any screen, in both themes", async () => {
      const page = await open({ reducedMotion: "reduce" });
      const faults = { start: await faultsOf(page), ...(await faultsOnTheWay(page)), ...(await faultsOfScreens(page)) };
      expect(Object.entries(faults).filter(([, each]) => each.length > 0)).toEqual([]);
      expect(Object.keys(faults)).toHaveLength(18);
    });
  }

  it("scrolls its columns and not itself", async () => {
    const page = await open({ viewport: { width: 1280, height: 600 } });
    expect(await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBe(0);
  });

  if (thorough) {
    it("never scrolls sideways, from 320 to 1000 pixels", async () => {
      const page = await open();
      const seen: string[] = [];
      const look = async (state: string): Promise<void> => {
        for (const width of [320, 360, 640, 1000]) {
          await page.setViewportSize({ width, height: 740 });
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          if (overflow !== 0) seen.push(`${state} at ${width}: ${overflow}`);
        }
      };
      await look("the list of tools");
      await choose(page, "http_fetch");
      await field(page, "url").fill(`https://example.com/${"long".repeat(100)}`);
      await run(page);
      await endOf(page);
      await look("a refused call");
      await callOf(page).getByRole("tab", { name: "Proof" }).click();
      await look("its proof");
      expect(seen).toEqual([]);
    });
  }

  it("runs no script but its own", async () => {
    const page = await open();
    const ran = await page.evaluate(() => {
      const inline = document.createElement("script");
      inline.textContent = "document.documentElement.dataset.inline = 'ran'";
      document.body.append(inline);
      document.body.insertAdjacentHTML(
        "beforeend",
        `<img src="data:," onerror="document.documentElement.dataset.handler = 'ran'">`,
      );
      return { ...document.documentElement.dataset };
    });
    expect(ran).toEqual({});
    const blocked = visiting.visitor.complaints.splice(0);
    expect(blocked.length).toBeGreaterThan(0);
    expect(blocked.every((text) => text.includes("Content Security Policy"))).toBe(true);
  });

  if (thorough) {
    it("keeps the colours that a person chose", async () => {
      const page = await open({ colorScheme: "light" });
      const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
      await page.getByRole("button", { name: /Change to light/ }).click();
      await page.getByRole("button", { name: /Change to dark/ }).click();
      expect(await scheme()).toBe("dark");
      await page.reload();
      expect(await scheme()).toBe("dark");
    });

    it("says what to do where no edge is set up", async () => {
      const page = await open();
      await page.getByRole("radio", { name: "Edge" }).click();
      await page.getByText("No edge is set up in this tab.").waitFor();
      await page.getByRole("button", { name: "Enter address and token" }).click();
      await page.getByRole("textbox", { name: "Address" }).fill("ftp://nowhere");
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByText(/This is not an http address/).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("radio", { name: "Browser" }).click();
      await page.getByText("Ready", { exact: true }).waitFor();
    });
  }
});

async function faultsOnTheWay(page: Page): Promise<Record<string, readonly string[]>> {
  await choose(page, "http_fetch");
  await field(page, "url").fill("https://example.com/");
  await run(page);
  await endOf(page);
  const refused = await faultsOf(page);
  await page.getByRole("button", { name: "Open the policy" }).click();
  await page.getByRole("button", { name: "Apply…" }).waitFor();
  const policy = await faultsOf(page);
  await leavePolicy(page);
  await choose(page, "append_note");
  await field(page, "note").fill("journal");
  await field(page, "line").fill("a line");
  await run(page);
  await page.getByRole("alertdialog").waitFor();
  const asked = await faultsOf(page);
  await page.getByRole("button", { name: "Allow once" }).click();
  await endOf(page);
  await tabOf(page, "Events").click();
  await callOf(page).locator("summary").first().click();
  const done = await faultsOf(page);
  await callOf(page).getByRole("tab", { name: "Proof" }).click();
  const proof = await faultsOf(page);
  await choose(page, "base64_file");
  await run(page);
  await page.getByText("This tool works on a file. Choose one.").waitFor();
  const fileless = await faultsOf(page);
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
  await run(page);
  await endOf(page);
  const streamed = await faultsOf(page);
  return { refused, policy, asked, done, proof, fileless, streamed };
}

/** Every screen of the rail, each part of a call, and the sheets. */
async function faultsOfScreens(page: Page): Promise<Record<string, readonly string[]>> {
  const faults: Record<string, readonly string[]> = {};
  await tabOf(page, "Decision").click();
  await callOf(page).getByText("decided here").waitFor();
  faults["decision"] = await faultsOf(page);
  const ready = {
    Timeline: page.getByRole("main", { name: "Timeline" }).getByRole("row").nth(1),
    Build: page.getByRole("textbox", { name: "Source of the tool (TypeScript)" }),
    Replay: page.getByRole("main", { name: "Replay" }),
  };
  for (const [name, part] of Object.entries(ready)) {
    await page.getByRole("link", { name, exact: true }).click();
    await part.waitFor();
    faults[name] = await faultsOf(page);
  }
  await page.getByRole("link", { name: "Call", exact: true }).click();
  await page.getByRole("radio", { name: "Edge" }).click();
  await page.getByText("No edge is set up in this tab.").waitFor();
  faults["no edge"] = await faultsOf(page);
  await page.getByRole("button", { name: "Enter address and token" }).click();
  await page.getByRole("textbox", { name: "Address" }).waitFor();
  faults["edges"] = await faultsOf(page);
  await page.keyboard.press("Escape");
  await page.getByRole("radio", { name: "Browser" }).click();
  await page.getByText("Ready", { exact: true }).waitFor();
  await page.keyboard.press("Shift+Escape");
  await page
    .getByText(/LOCKDOWN/)
    .nth(1)
    .waitFor();
  faults["lockdown"] = await faultsOf(page);
  await page.setViewportSize({ width: 1000, height: 800 });
  faults["middling"] = await faultsOf(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("menuitem").first().waitFor();
  faults["find"] = await faultsOf(page);
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 390, height: 800 });
  faults["narrow"] = await faultsOf(page);
  return faults;
}
