import { createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { exposeInspector } from "@keyhole/worker-host/node";
import type { Page } from "playwright";
import { describe, expect, it } from "vitest";
import { connectTo, fakeEdge, fakeTool } from "./playground/fake-edge.ts";
import { agreeToEdge, choose, field, run, untilEvent } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();
const { open } = visiting;

const logOf = (page: Page) => page.getByRole("region", { name: "Log of calls" });

describe("a call that runs", () => {
  it("goes on over back, and is said to be left after a reload", async () => {
    const page = await open();
    await choose(page, "echo");
    await choose(page, "spin");
    await run(page);
    await page.goBack();
    await logOf(page)
      .getByRole("row", { name: /running spin/ })
      .waitFor();
    await page.goForward();
    await untilEvent(page, "tool.started");
    await page.reload();
    await logOf(page)
      .getByRole("row", { name: /left spin/ })
      .click();
    await untilEvent(page, "tool.started");
  });
});

const members = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, { type: "string" }]));

const wideTool = (count: number): object => {
  const properties = members(count);
  return fakeTool(`wide${count}`, { input: { type: "object", properties, required: Object.keys(properties) } });
};

interface Key {
  readonly medianMs: number;
  /** Most changes of the document in one key. */
  readonly changes: number;
}

/** Types letters into the middle field. The page draws within the event. */
function typeInto(page: Page, name: string): Promise<Key> {
  return field(page, name).evaluate(async (element) => {
    const input = element as HTMLTextAreaElement;
    const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), "value")?.set;
    const watch = new MutationObserver(() => {});
    watch.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    const times: number[] = [];
    let changes = 0;
    input.focus();
    for (let letter = 0; letter < 60; letter++) {
      await new Promise(requestAnimationFrame);
      watch.takeRecords();
      const begin = performance.now();
      set?.call(input, `${input.value}x`);
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      void document.body.offsetHeight;
      times.push(performance.now() - begin);
      changes = Math.max(changes, watch.takeRecords().length);
    }
    watch.disconnect();
    return { medianMs: times.toSorted((a, b) => a - b)[30] ?? Number.NaN, changes };
  });
}

describe("a form", () => {
  it("of 120 fields changes no more of the page at a key than one of 2, and a choice of 500 draws what is in sight", async () => {
    const choice = { enum: Array.from({ length: 500 }, (_, at) => `country ${at}`) };
    const chosen = fakeTool("chosen", { input: { type: "object", properties: { choice }, required: ["choice"] } });
    const edge = await fakeEdge({ tools: [wideTool(2), wideTool(120), chosen], onCall: () => {} });
    try {
      const page = await open();
      await connectTo(page, edge.origin);
      const keys: Key[] = [];
      for (const [count, name] of [
        [2, "field1"],
        [120, "field60"],
      ] as const) {
        await choose(page, `wide${count}`);
        keys.push(await typeInto(page, name));
        expect(await field(page, name).inputValue()).toBe("x".repeat(60));
      }
      const told = keys.map(({ medianMs, changes }) => `${medianMs.toFixed(1)} ms and ${changes} changes`);
      process.stdout.write(`a key in 2 fields: ${told[0]}; in 120: ${told[1]}\n`);
      expect(keys[1]?.changes).toBeLessThanOrEqual(keys[0]?.changes ?? 0);

      await choose(page, "chosen");
      const combo = page.getByRole("combobox", { name: /^choice/ });
      await combo.click();
      await page.getByRole("option", { name: "country 0" }).waitFor();
      expect(
        await page
          .getByRole("listbox", { name: /choice/ })
          .getByRole("option")
          .count(),
      ).toBeLessThan(60);
      await combo.fill("country 499");
      await page.getByRole("option", { name: "country 499" }).click();
      expect(await combo.inputValue()).toBe("country 499");
    } finally {
      await edge.close();
    }
  });
});

const inRound = 300;

/** 100 calls a second. @returns the median time of a call in milliseconds */
async function callsOf(kernel: Kernel): Promise<number> {
  const times: number[] = [];
  const start = performance.now();
  for (let made = 0; made < inRound; made++) {
    const due = start + made * 10 - performance.now();
    if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
    const begin = performance.now();
    await kernel.call("busy", { made }, { caller: "the program" });
    times.push(performance.now() - begin);
  }
  return times.toSorted((a, b) => a - b)[inRound / 2] ?? Number.NaN;
}

/** Frames of the page until the promise is settled. */
async function framesDuring(page: Page, work: Promise<unknown>): Promise<readonly number[]> {
  await page.evaluate(() => {
    const frames: number[] = [];
    Object.assign(globalThis, { frames });
    let last = performance.now();
    const next = (now: number): void => {
      frames.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await work;
  return page.evaluate(() => (globalThis as unknown as { frames: number[] }).frames);
}

describe("a Node kernel under 100 calls a second", () => {
  it("that a page watches has each call in the page", async () => {
    await visiting.open();
    const policy = { version: "1", posture: "standard" } as const;
    const kernel = await createKernel({ policy });
    const busy = { version: "1.0.0", description: "Does little.", input: { type: "object" } } as const;
    kernel.registerTrusted(defineTool({ name: "busy", ...busy, output: { kind: "json" }, execute: () => 1 }));
    const inspector = await exposeInspector(kernel, { origins: [visiting.site.origin], policy: () => policy });
    try {
      await callsOf(kernel);
      const alone = await callsOf(kernel);
      visiting.visitor = await visiting.visits.visit(inspector.link);
      const { page } = visiting.visitor;
      await agreeToEdge(page);
      await page.getByText("Watching", { exact: true }).waitFor();
      await callsOf(kernel);
      const watched = callsOf(kernel);
      const frames = await framesDuring(page, watched);
      const ratio = ((await watched) / alone).toFixed(2);
      const slow = frames.filter((each) => each > 50).length;
      process.stdout.write(`p50 ${ratio} times that alone; ${frames.length} frames, ${slow} over 50 ms\n`);
      const count = page.getByRole("heading", { name: /^Calls/ });
      await expect
        .poll(async () => Number(/\d+/.exec(await count.innerText())?.[0]))
        .toBeGreaterThanOrEqual(2 * inRound);
    } finally {
      await inspector.close();
    }
  });
});
