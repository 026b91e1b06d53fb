import { hashJson, type JsonObject } from "@keyhole/kernel";
import type { Locator, Page } from "playwright";
import { describe, expect, it } from "vitest";
import { choose, endOf, field, run, tabOf } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();

const count = 100_000;
const inPiece = 10_000;
const digest = `blake3:${"0".repeat(64)}`;

interface Piece {
  readonly events: readonly object[];
  readonly logs: readonly object[];
}

/** Events of one call, each after the one before, with their true hashes, and as many log lines. */
function pieces(): readonly Piece[] {
  let prev = digest;
  const event = (seq: number, type: string, payload: JsonObject): JsonObject => {
    const time = new Date(Date.UTC(2026, 10, 20) + seq).toISOString();
    const about = { v: 1, seq, id: `e${seq}`, time, type, callId: "c", sessionId: null, traceparent: null };
    const body = { ...about, prev, payload };
    prev = hashJson(body);
    return { ...body, hash: prev };
  };
  const invoked = { tool: "echo@1.0.0", caller: "x", inputHash: digest, correlationId: null, parentCallId: null };
  const first = event(0, "call.invoked", invoked);
  return Array.from({ length: count / inPiece }, (_, number) => {
    const places = Array.from({ length: inPiece }, (__, at) => number * inPiece + at);
    const events = places.map((index) => {
      const hashes = { requestHash: digest, responseHash: digest };
      const target = `GET example.com:443/pages/${index}`;
      const use = { index, kind: "net.read", operation: "fetch", target, outcome: "ok", ...hashes };
      return event(index + 1, "capability.used", use);
    });
    const logs = places.map((index) => ({ level: "info", message: `page ${index} is read` }));
    return { events: number === 0 ? [first, ...events] : events, logs };
  });
}

/** A kernel ends a call long before. The page takes each call of its store: here a copy of the call that is there, with more. */
async function store(page: Page, piece: Piece, number: number): Promise<void> {
  await page.evaluate(
    async ([part, at, total]) => {
      const open = indexedDB.open("keyhole.session");
      await new Promise((resolve) => open.addEventListener("success", resolve));
      const writing = open.result.transaction(["heads", "bodies", "pieces"], "readwrite");
      const copy = (name: string, more: object): void => {
        const all = writing.objectStore(name).getAll();
        all.addEventListener("success", () => {
          const [one] = all.result as readonly object[];
          writing.objectStore(name).put({ ...one, ...more, id: "large" });
        });
      };
      if (at === 0) {
        copy("heads", { events: total + 1, logs: total, what: "large" });
        copy("bodies", {});
      }
      writing.objectStore("pieces").put({ ...part, id: "large", number: at });
      await new Promise((resolve) => writing.addEventListener("complete", resolve));
      open.result.close();
    },
    [piece, number, count] as const,
  );
}

interface Frames {
  readonly frames: number;
  readonly longestMs: number;
  readonly over50: number;
}

/** Scrolls in every frame, from the beginning to the end and back in small steps, and takes the time of each frame. */
function scroll(scroller: Locator): Promise<Frames> {
  return scroller.evaluate(async (element) => {
    const frame = (): Promise<number> => new Promise(requestAnimationFrame);
    const times: number[] = [];
    const whole = element.scrollHeight - element.clientHeight;
    let last = await frame();
    for (let step = 0; step < 240; step++) {
      element.scrollTop = step < 120 ? (whole * step) / 120 : element.scrollTop - 60;
      const now = await frame();
      times.push(now - last);
      last = now;
    }
    const longestMs = Math.max(...times);
    return { frames: times.length, longestMs, over50: times.filter((time) => time > 50).length };
  });
}

function tell(what: string, { frames, longestMs, over50 }: Frames): void {
  process.stdout.write(`${what}: ${frames} frames, the longest ${longestMs.toFixed(1)} ms, ${over50} over 50 ms\n`);
}

describe("a call with 100,000 events and 100,000 log lines", () => {
  it("is scrolled with only rows in sight drawn, and its hashes are recomputed", async () => {
    const page = await visiting.open();
    await choose(page, "echo");
    await field(page, "message").fill("hello");
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    const log = page.getByRole("region", { name: "Log of calls" });
    await log.getByRole("row", { name: /hello/ }).waitFor();
    for (const [number, piece] of pieces().entries()) await store(page, piece, number);
    await page.reload();
    await log.getByRole("row", { name: /large/ }).click();

    await tabOf(page, "Logs").click();
    await page.getByText("100,000 of 100,000 lines").waitFor();
    const lines = page.getByRole("region", { name: "Log lines of the tool" });
    tell("log lines", await scroll(lines));
    expect(await lines.getByRole("listitem").count()).toBeLessThan(150);
    expect(await lines.locator("[role=listitem][style]").count()).toBe(0);

    await page.getByRole("link", { name: "Timeline", exact: true }).click();
    const spans = page.getByRole("grid", { name: "Spans" });
    await expect.poll(() => spans.getAttribute("aria-rowcount")).toBe(`${count + 2}`);
    const scroller = spans.locator("xpath=..");
    tell("timeline, while hashes are recomputed", await scroll(scroller));
    await page.getByText("100,001 hashes recomputed, no break").waitFor();
    tell("timeline", await scroll(scroller));
    expect(await spans.getByRole("row").count()).toBeLessThan(150);
    // A style for each row made a frame take most of a second.
    expect(await spans.locator("tr[style]").count()).toBe(0);
  });
});
