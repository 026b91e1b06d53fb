import type { FileHandle } from "node:fs/promises";
import { type AuditSink, blake3Hash, type EventRecord, lineOf, systemClock } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { AuditLog } from "../../packages/kernel/src/audit/log.ts";
import { SteadyClock } from "../../packages/kernel/src/state/steady-clock.ts";
import { scanLog } from "../../packages/worker-host/src/node/scan-log.ts";
import { bitsAt, everyBit, sampled } from "../support/sampled.ts";
import { sized } from "../support/size.ts";
import { recordsOf } from "./log-of.ts";

/*
 * Every single bit of a log of 20 events, where it is opened again; `verify.test.ts` has the same for those who verify it. A log is checked from one event to the
 * next, so each event is tried with the one behind it.
 */

const records = await recordsOf(20);

function* flips(text: string): Generator<string, void, undefined> {
  for (const at of sampled(text.length, 7)) {
    for (const bit of bitsAt(at))
      yield text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << bit)) + text.slice(at + 1);
  }
}

/** A sink that sees nothing wrong: the kernel has to. */
function blindSink(kept: readonly EventRecord[]): AuditSink {
  return {
    open: () => ({ last: kept.at(-1), cutBytes: 0, damage: null }),
    append: () => {},
    read: () => kept,
  };
}

describe("one bit of a log of 20 events", () => {
  it("in the records of a store is damage, on which a kernel locks down", async () => {
    let tried = 0;
    let missed = 0;
    const open = async (kept: readonly EventRecord[]): Promise<void> => {
      const { damage } = await AuditLog.open({
        sink: blindSink(kept),
        clock: systemClock,
        hash: blake3Hash,
        tables: [],
        steady: new SteadyClock(systemClock),
      });
      tried++;
      if (damage === null) missed++;
    };
    for (const record of records) {
      for (const body of flips(record.body)) await open([{ ...record, body }]);
      for (const hash of flips(record.hash)) await open([{ ...record, hash }]);
    }
    expect(missed).toBe(0);
    const characters = records.reduce((sum, { body, hash }) => sum + body.length + hash.length, 0);
    expect(tried).toBeGreaterThanOrEqual(sized(characters / 7, 8 * characters));
  });

  it("in the bytes of a file is damage, in the last event and its line end too", async () => {
    const lines = records.map((record) => Buffer.from(`${lineOf(record)}\n`));
    let tried = 0;
    for (const [place, line] of lines.entries()) {
      const behind = lines[place + 1] ?? Buffer.alloc(0);
      const bytes = Buffer.concat([line, behind]);
      // Only its own digest holds the last event, so that one is tried whole.
      const isLast = behind.length === 0;
      for (const at of sampled(line.length, isLast ? 1 : 13)) {
        for (const bit of isLast ? everyBit : bitsAt(at)) {
          bytes[at]! ^= 1 << bit;
          const { damage } = await scanLog(fileOf(bytes));
          bytes[at]! ^= 1 << bit;
          tried++;
          if (damage === null) expect.fail(`bit ${bit} of byte ${at} of event ${place}`);
        }
      }
    }
    const { length } = Buffer.concat(lines);
    expect(tried).toBeGreaterThanOrEqual(sized(length / 13, 8 * length));
  });
});

function fileOf(bytes: Buffer): FileHandle {
  const read = async (target: Buffer, offset: number, length: number, from: number) => ({
    bytesRead: bytes.copy(target, offset, from, Math.min(bytes.length, from + length)),
  });
  return { read } as unknown as FileHandle;
}
