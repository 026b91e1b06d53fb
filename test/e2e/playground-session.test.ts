import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
import {
  callOf,
  choose,
  echo,
  endOf,
  eventsOf,
  field,
  hashOf,
  resultOf,
  run,
  untilEvent,
} from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";
import { thorough } from "../support/size.ts";

const visiting = new Visiting();
const { open } = visiting;

const logOf = (page: Page) => page.getByRole("region", { name: "Log of calls" });
const rowOf = (page: Page, text: RegExp) => logOf(page).getByRole("row", { name: text });

describe("the session", () => {
  it("has every call after a reload, at an address of its own", async () => {
    const page = await open();
    expect(await echo(page, "first words")).toBe("Completed");
    const address = page.url();
    expect(address).toMatch(/#\/call\/[0-9a-f-]+$/);
    await page.reload();
    await page.getByText("Ready", { exact: true }).waitFor();
    expect(await endOf(page)).toBe("Completed");
    expect(page.url()).toBe(address);
    expect(await resultOf(page)).toContain("first words");
    expect((await eventsOf(page)).at(-1)).toBe("tool.completed");
    // The form has the input again.
    expect(await field(page, "message").inputValue()).toBe("first words");

    expect(await echo(page, "second words")).toBe("Completed");
    await rowOf(page, /first words/).click();
    expect(page.url()).toBe(address);
    await callOf(page).getByText('"first words"').waitFor();
    await page.goBack();
    await callOf(page).getByText('"second words"').waitFor();
  });

  if (thorough) {
    it("is searched, and deleted only after a question", async () => {
      const page = await open();
      expect(await echo(page, "needle")).toBe("Completed");
      expect(await echo(page, "straw")).toBe("Completed");
      await logOf(page).getByRole("searchbox", { name: "Search calls" }).fill("needle");
      await expect.poll(() => logOf(page).getByRole("row").count()).toBe(2); // With the heads.
      await logOf(page).getByRole("button", { name: "Export" }).click();
      await page.getByRole("menuitem", { name: "Delete 1 call…" }).click();
      await logOf(page).getByRole("button", { name: "Delete" }).click();
      await logOf(page).getByText("No call matches.").waitFor();
      await logOf(page).getByRole("searchbox", { name: "Search calls" }).fill("");
      await rowOf(page, /straw/).waitFor();
      await page.reload();
      await rowOf(page, /straw/).waitFor();
      expect(await rowOf(page, /needle/).count()).toBe(0);
    });
  }

  if (thorough) {
    it("saves the events of its calls as lines of a log", async () => {
      const page = await open();
      expect(await echo(page, "for the log")).toBe("Completed");
      await logOf(page).getByRole("button", { name: "Export" }).click();
      const downloading = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: "Save the events of 1 call" }).click();
      const stream = await (await downloading).createReadStream();
      const text = Buffer.concat(await stream.toArray()).toString("utf8");
      const types = text
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { type: string }).type);
      expect(types.at(0)).toBe("call.invoked");
      expect(types.at(-1)).toBe("tool.completed");
    });
  }

  if (thorough) {
    it("goes on with a call while another tool is called", async () => {
      const page = await open();
      await choose(page, "spin");
      await run(page);
      await untilEvent(page, "tool.started");
      expect(await echo(page, "meanwhile")).toBe("Completed");
      await rowOf(page, /spin/).click();
      // It was not cancelled: it ended at its own deadline.
      expect(await endOf(page)).toBe("Failed");
      await callOf(page).getByText("TIMEOUT", { exact: true }).first().waitFor();
    });
  }

  it("is moved through by keys alone", async () => {
    const page = await open();
    expect(await echo(page, "older")).toBe("Completed");
    expect(await echo(page, "newer")).toBe("Completed");
    await rowOf(page, /newer/).focus();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await callOf(page).getByText('"older"').waitFor();
    await page.keyboard.press("`");
    await logOf(page).getByRole("button", { name: "Show the log of calls" }).waitFor();
  });
});

describe("the shell", () => {
  it("locks the kernel down with one press, from a field too, says so, and opens it again", async () => {
    const page = await open();
    await choose(page, "list_directory");
    await page.getByRole("searchbox", { name: "Search tools" }).focus();
    await page.keyboard.press("Shift+Escape");
    await page.getByText("Every opening is closed.").waitFor();
    await run(page);
    expect(await endOf(page)).toBe("Refused");
    await callOf(page).getByText("POLICY_DENIED", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Back to NORMAL" }).click();
    await page.getByRole("group", { name: "Mode of the kernel" }).getByText("NORMAL", { exact: true }).waitFor();
    await page.getByRole("button", { name: "LOCKDOWN" }).click();
    await page.getByText("Every opening is closed.").waitFor();
  });

  it("stays in LOCKDOWN over a reload, until a person lifts it", async () => {
    const page = await open();
    await page.getByRole("button", { name: "LOCKDOWN" }).click();
    await page.getByText("Every opening is closed.").waitFor();
    await page.reload();
    await page.getByText("Every opening is closed.").waitFor();
    await choose(page, "list_directory");
    await run(page);
    expect(await endOf(page)).toBe("Refused");
    const mode = page.getByRole("group", { name: "Mode of the kernel" });
    await mode.getByRole("button", { name: "Back to NORMAL" }).click();
    await mode.getByText("NORMAL", { exact: true }).waitFor();
    await page.reload();
    await mode.getByText("NORMAL", { exact: true }).waitFor();
  });

  it("shows the chosen tool in the list, also where the list is longer than its place", async () => {
    const page = await open();
    const isInSight = (name: RegExp): Promise<boolean> =>
      page.getByRole("option", { name }).evaluate((option) => {
        const { x, y, width, height } = option.getBoundingClientRect();
        return option.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      });
    await expect.poll(() => isInSight(/^echo/)).toBe(true);
    await page.evaluate(() => location.assign("#/tool/fetch_url@1.0.0"));
    await page.getByRole("heading", { name: "fetch_url", exact: true }).waitFor();
    await expect.poll(() => isInSight(/^fetch_url/)).toBe(true);
  });

  it("finds tools, calls by their hash, and actions by Control and K", async () => {
    const page = await open();
    expect(await echo(page, "to be found")).toBe("Completed");
    const hash = await hashOf(page);
    const find = async (text: string): Promise<void> => {
      await page.keyboard.press("Control+k");
      const dialog = page.getByRole("dialog", { name: "Tools, calls, hashes, actions" });
      await dialog.getByRole("searchbox").or(dialog.getByRole("textbox")).fill(text);
      await dialog.getByRole("menuitem").first().waitFor();
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
    };
    await find("hash_f");
    await page.getByRole("heading", { name: "hash_file", exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("hash_file");
    await find(hash);
    expect(await hashOf(page)).toBe(hash);
    await find("lockdown");
    await page.getByText("Every opening is closed.").waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Tools, calls, hashes, actions" }).click();
    await page.getByRole("dialog", { name: "Tools, calls, hashes, actions" }).waitFor();
  });

  if (thorough) {
    it("ends a call of another tool from the header", async () => {
      const page = await open();
      await choose(page, "spin");
      await run(page);
      await choose(page, "echo");
      // At once: it has a deadline.
      await page.getByRole("button", { name: "Kill spin" }).click();
      await rowOf(page, /cancelled spin/).waitFor();
    });

    it("speaks of no form at the address of a tool that is not there", async () => {
      const page = await open();
      await page.getByText("Nothing has run yet").waitFor();
      await page.evaluate(() => location.assign("#/tool/nobody"));
      await page.getByText("This tool is not here").waitFor();
      expect(await page.getByText("Nothing has run yet").count()).toBe(0);
      await choose(page, "echo");
      await page.getByText("Nothing has run yet").waitFor();
    });
  }

  it("leads to each screen by Alt and a digit, and each has one main heading", async () => {
    const page = await open();
    const screens = ["echo", "Timeline", "Decide", "Policy", "Build", "Agent", "Replay"];
    for (const [at, name] of screens.entries()) {
      await page.keyboard.press(`Alt+${at + 1}`);
      await page.getByRole("main").getByRole("heading", { level: 1, name, exact: true }).waitFor();
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    }
  });
});

if (thorough) {
  describe("a second tab", () => {
    it("sees the calls of the first one as they are made, and shows them", async () => {
      const page = await open();
      const other = await page.context().newPage();
      await other.goto(visiting.site.origin);
      await other.getByText("Ready", { exact: true }).waitFor();
      expect(await echo(page, "across tabs")).toBe("Completed");
      await rowOf(other, /across tabs/).click();
      await callOf(other).getByText('"across tabs"').waitFor();
      await other.close();
    });
  });
}
