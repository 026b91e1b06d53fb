import { createHash } from "node:crypto";
import { type AuditSink, createKernel, type EventRecord } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { echo, openPolicy } from "../support/kernel.ts";
import { recordsOf } from "./log-of.ts";

const records = await recordsOf(11);
const others = await recordsOf(11);
const inSha256 = (record: EventRecord): EventRecord => ({
  ...record,
  hash: `sha256:${createHash("sha256").update(record.body).digest("hex")}`,
});

/** A sink that sees nothing wrong: the kernel has to. */
function blindSink(kept: EventRecord[]): AuditSink {
  return {
    open: () => ({ last: kept.at(-1), cutBytes: 0, damage: null }),
    append: (batch) => void kept.push(...batch),
    read: (fromSeq, limit) => kept.filter(({ seq }) => seq >= fromSeq).slice(0, limit),
  };
}

describe("a kernel that opens a log", () => {
  it("goes on with one that is whole", async () => {
    const kernel = await createKernel({ sink: blindSink([...records]), policy: openPolicy });
    expect(kernel.mode).toBe("NORMAL");
  });

  it.each<[string, () => EventRecord[]]>([
    ["a changed event", () => records.with(4, { ...records[4]!, body: records[4]!.body.replace('"v":1', '"v":2') })],
    ["no first event", () => records.slice(1)],
    ["an event less", () => records.toSpliced(4, 1)],
    ["an event twice", () => records.toSpliced(4, 0, records[3]!)],
    ["two events in another order", () => records.toSpliced(4, 2, records[5]!, records[4]!)],
    ["an event of another log", () => records.with(4, others[4]!)],
    ["a digest in another algorithm", () => records.with(4, inSha256(records[4]!))],
    ["a digest of another event", () => records.with(4, { ...records[4]!, hash: records[5]!.hash })],
    ["a lone surrogate", () => records.with(4, { ...records[4]!, body: '"\ud800"' })],
  ])("with %s locks down, on record", async (_, tamper) => {
    const kept = tamper();
    const kernel = await createKernel({ sink: blindSink(kept), policy: openPolicy });
    expect(kernel.mode).toBe("LOCKDOWN");
    kernel.registerTrusted({ ...echo, definition: { ...echo.definition, tier: 1 } });
    expect(await kernel.call("echo", { message: "x" })).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(JSON.parse(kept[tamper().length]!.body)).toMatchObject({
      type: "mode.changed",
      payload: { mode: "LOCKDOWN" },
    });
  });
});
