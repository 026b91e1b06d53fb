import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
import { fakeEdge, connectTo, fakeEvent, fakeResult, fakeTool } from "./playground/fake-edge.ts";
import { callOf, choose, echo, endOf, field, run } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";
import { thorough } from "../support/size.ts";

const { open } = new Visiting();

const timeline = (page: Page) => page.getByRole("main", { name: "Timeline" });
const spans = (page: Page) => timeline(page).getByRole("grid", { name: "Spans" });
const row = (page: Page, name: RegExp) => spans(page).getByRole("row", { name });

async function openTimeline(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Timeline" }).click();
  await timeline(page).waitFor();
}

/** How often ten steps of scrolling look something up: a number of the rows in sight, and not of those that there are. */
function lookUpsOfScroll(page: Page): Promise<number> {
  return spans(page).evaluate(async (table) => {
    const { prototype } = Map;
    const { get } = prototype;
    let count = 0;
    prototype.get = function (this: Map<unknown, unknown>, key: unknown): unknown {
      count++;
      return get.call(this, key);
    };
    for (let step = 0; step < 10; step++) {
      table.parentElement!.scrollTop += 24;
      await new Promise(requestAnimationFrame);
    }
    prototype.get = get;
    return count;
  });
}

describe("the timeline", () => {
  it("shows a call that asked, by keyboard, and keeps what stands in the form", async () => {
    const page = await open();
    await choose(page, "append_note");
    await field(page, "note").fill("journal");
    await field(page, "line").fill("a line");
    await run(page);
    await page.mouse.move(1, 1);
    await page.getByRole("button", { name: "Allow once" }).click();
    expect(await endOf(page)).toBe("Completed");

    await page.keyboard.press("Alt+2");
    await row(page, /append_note.*completed/).waitFor();
    await row(page, /person.*allowed by/).waitFor();
    await row(page, /fs\.write.*through/)
      .first()
      .waitFor();
    await timeline(page)
      .getByText(/hashes recomputed, no break$/)
      .waitFor();

    await row(page, /append_note.*completed/).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const pane = timeline(page).getByRole("complementary", { name: "The span" });
    await pane.getByText("recomputed").first().waitFor();
    await pane.getByText("prev", { exact: true }).first().waitFor();

    const shown = timeline(page).getByRole("slider", { name: "Time that is shown" });
    const whole = await shown.getAttribute("aria-valuetext");
    await shown.focus();
    await page.keyboard.press("+");
    await expect.poll(() => shown.getAttribute("aria-valuetext")).not.toBe(whole);
    await page.keyboard.press("0");
    await expect.poll(() => shown.getAttribute("aria-valuetext")).toBe(whole);

    await timeline(page).getByRole("button", { name: "people" }).click();
    await expect.poll(() => row(page, /person/).count()).toBe(0);
    await timeline(page).getByRole("searchbox", { name: "Search spans" }).fill("fs.write");
    await expect.poll(() => row(page, /append_note.*completed/).count()).toBe(0);

    await pane.getByRole("button", { name: "Open the call" }).click();
    expect(await endOf(page)).toBe("Completed");
    expect(await field(page, "note").inputValue()).toBe("journal");
  });

  if (thorough) {
    it("shows the whole session, also after a reload", async () => {
      const page = await open();
      for (const message of ["one", "two"]) expect(await echo(page, message)).toBe("Completed");
      await openTimeline(page);
      await timeline(page).getByRole("button", { name: "Show the whole session" }).click();
      await expect.poll(() => row(page, /echo.*completed/).count()).toBe(2);
      await page.reload();
      await expect.poll(() => row(page, /echo.*completed/).count()).toBe(2);
      await page.goBack();
      await expect.poll(() => row(page, /echo.*completed/).count()).toBe(1);
    });
  }

  it("draws an edge that lies: a broken chain, odd times, a cycle, a hidden character, and only rows in sight", async () => {
    const tool = fakeTool("pour");
    const count = 2_000;
    const invoked = (seq: number, callId: string, parentCallId: string) => ({
      ...fakeEvent(seq, "call.invoked", {
        tool: "evil\u202Eelif@1.0.0",
        caller: "x",
        inputHash: null,
        correlationId: null,
        parentCallId,
      }),
      callId,
    });
    const edge = await fakeEdge({
      tools: [tool],
      onCall(stream) {
        stream.send("audit", { ...invoked(0, "c", "d"), time: "never" });
        stream.send("audit", { ...invoked(1, "d", "c"), time: "+275760-09-13T00:00:00.000Z" });
        for (let seq = 2; seq < count; seq++)
          // Each pause is a fold of the axis.
          stream.send("audit", {
            ...fakeEvent(seq, "tool.of.tomorrow", {}),
            time: new Date(Date.UTC(2026, 10, 20) + seq * 1_000).toISOString(),
          });
        stream.send("result", fakeResult("pour"));
        stream.end();
      },
    });
    try {
      const page = await open();
      await connectTo(page, edge.origin);
      await choose(page, "pour");
      await run(page);
      await callOf(page).getByText("Broken answer", { exact: true }).waitFor();
      await openTimeline(page);
      await timeline(page)
        .getByText(/^chain broken at/)
        .waitFor();
      await row(page, /Event 1 does not follow event 0\. Expected [0-9a-f]{8}, found [0-9a-f]{8}/).waitFor();
      await row(page, /evil\\u202eelif/)
        .first()
        .waitFor();
      expect(Number(await spans(page).getAttribute("aria-rowcount"))).toBeGreaterThan(count);
      expect(await spans(page).getByRole("row").count()).toBeLessThan(150);
      expect(await spans(page).locator("*").count()).toBeLessThan(150 * 25);
      // While events are hashed the rows change a few times a second; afterwards a step looks up only rows in sight.
      await expect.poll(() => lookUpsOfScroll(page)).toBeLessThan(count);
      await spans(page).getByRole("row").nth(1).focus();
      await page.keyboard.press("End");
      await row(page, new RegExp(`${count - 1}`)).waitFor();
      expect(await spans(page).getByRole("row").count()).toBeLessThan(150);
    } finally {
      await edge.close();
    }
  });
});
