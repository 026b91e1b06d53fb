import { createKernel } from "@keyhole/kernel";
import { recordingHost, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { nodeHost } from "@keyhole/worker-host/node";
import { calculator, echo } from "@keyhole/worker-host/tools";
import { describe, expect, it } from "vitest";
import { callOf, rowsOf } from "../../packages/playground/src/replay/entries.ts";
import { openRun, toolsOf } from "../../packages/playground/src/replay/open-run.ts";

async function recorded(): Promise<readonly RunEntry[]> {
  const entries: RunEntry[] = [];
  const node = nodeHost();
  const kernel = await createKernel({ host: recordingHost(node, (entry) => entries.push(entry)) });
  for (const tool of [echo, calculator]) kernel.register(tool);
  await kernel.call("echo", { message: "a\u202eb" });
  await kernel.call("calculator", { expression: "1 + 2" });
  await kernel.close();
  await node.close();
  return entries;
}

describe("a run file in the page", () => {
  it("is read whole, with its tools and its rows", async () => {
    const entries = await recorded();
    const opened = await openRun(new File([writeRun({ entries })], "week.keyhole"));
    if (!opened.ok) throw new Error(opened.reason);
    const rows = rowsOf(opened.run);
    expect(rows.map(({ word }) => word)).toEqual(["begins", "ends", "begins", "ends"]);
    expect(rows[0]!.text).not.toContain("\u202e");
    expect(callOf(opened.run, 3)?.tool).toBe("calculator@1.0.0");
    const { tools, missing } = await toolsOf(opened.run);
    expect([tools.map(({ manifest }) => manifest.name).sort(), missing]).toEqual([["calculator", "echo"], []]);
  });

  it.for<[string, (text: string) => BlobPart, RegExp]>([
    ["cut", (text) => text.slice(0, -20), /^Line \d+: /],
    ["changed", (text) => text.replace("1 + 2", "1 + 3"), /^Line \d+: /],
    ["empty", () => "", /^Line \d+: /],
    ["no text", () => new Uint8Array([0xff, 0xfe, 0x0a]), /^Line 1: /],
    ["no run", () => "<script>alert(1)</script>\n".repeat(1_000), /^Line 1: /],
  ])("is refused with its line: %s", async ([, broken, reason]) => {
    const opened = await openRun(new File([broken(writeRun({ entries: await recorded() }))], "week.keyhole"));
    expect(opened).toMatchObject({ ok: false, reason: expect.stringMatching(reason) as string });
  });

  it("is refused by its size before a byte is read", async () => {
    const huge = {
      name: "huge.keyhole",
      size: 1_000_000_000,
      stream: () => {
        throw new Error("It was read.");
      },
    };
    expect(await openRun(huge as unknown as File)).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/reads at most 64/) as string,
    });
  });
});
