import { type AuditSink, type EventRecord, memorySink } from "@keyhole/kernel";
import { toolOf } from "../../support/kernel.ts";
import { comparable, openKernel, type Seam } from "./seam.ts";

async function writtenLog(): Promise<readonly EventRecord[]> {
  const sink = memorySink();
  const kernel = await openKernel({ sink });
  kernel.registerTrusted(toolOf(() => 1));
  await kernel.call("subject", {}, { idempotencyKey: "k" });
  return sink.read(0, 100);
}
const log = await writtenLog();

async function onLog(sink: AuditSink): Promise<unknown> {
  const kernel = await openKernel({ sink });
  kernel.registerTrusted(toolOf(() => 1));
  return comparable([kernel.mode, await kernel.call("subject", {}, { idempotencyKey: "k" })]);
}

const sinkOf = (more: Partial<AuditSink>): AuditSink => {
  const kept = [...log];
  return {
    open: () => ({ last: kept.at(-1), cutBytes: 0, damage: null }),
    append: (records) => void kept.push(...records),
    read: (from, limit) => kept.slice(from, from + limit),
    ...more,
  };
};

export const seams: readonly Seam[] = [
  {
    name: "what a sink finds when it is opened",
    first: { last: log.at(-1), cutBytes: 7, damage: null },
    second: { last: log.at(-2), cutBytes: 0, damage: "none of your business" },
    run: (state) => onLog(sinkOf({ open: () => state })),
  },
  {
    name: "the records of a sink",
    first: log,
    second: log.map((record) => ({ ...record, body: record.body.replaceAll("call.keyed", "call.other") })),
    run: (records) => onLog(sinkOf({ read: () => records })),
  },
];
