import { mkdtemp, open, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lineOf } from "@keyhole/kernel";
import { fileSink } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { recordsOf } from "./log-of.ts";

let folder: string;
let path: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-checkpoint-"));
});
beforeEach(() => {
  path = join(folder, `${files++}.jsonl`);
});
afterAll(() => rm(folder, { recursive: true }));

const records = await recordsOf(6);
const whole = Buffer.from(records.map((record) => `${lineOf(record)}\n`).join(""));
/** Where each record begins, and the end. */
const starts = [0];
for (const [at, byte] of whole.entries()) if (byte === 10) starts.push(at + 1);

describe("a log file with a checkpoint", () => {
  /** Six records, of which the fourth has the checkpoint. */
  const withCheckpoint = async (): Promise<void> => {
    const sink = fileSink(path, { fsync: "never" });
    await sink.open();
    await sink.append(records);
    await sink.writeCheckpoint!("state", 3);
    await sink.close();
  };
  const changeByte = async (at: number): Promise<void> => {
    const file = await open(path, "r+");
    await file.write("#", at);
    await file.close();
  };

  it("is read from there on when it is opened, and before that when somebody asks", async () => {
    await withCheckpoint();
    await changeByte(starts[1]! + 20);
    const sink = fileSink(path);
    expect(await sink.open()).toEqual({ last: records[5], cutBytes: 0, damage: null });
    expect(await sink.read(3, 10)).toEqual(records.slice(3));
    // What is no event any more is left out: the kernel finds the gap.
    expect(await sink.read(0, 10)).toEqual(records.toSpliced(1, 1));
    await sink.close();
  });

  it("is cut behind a torn write as one without", async () => {
    await withCheckpoint();
    await truncate(path, whole.length - 7);
    const sink = fileSink(path);
    expect(await sink.open()).toEqual({
      last: records[4],
      cutBytes: whole.length - 7 - starts[5]!,
      damage: null,
    });
    expect(await sink.readCheckpoint!()).toBe("state");
    await sink.append(records.slice(5));
    expect(await sink.read(0, 10)).toEqual(records);
    await sink.close();
  });

  it.each([0, starts[2]!, starts[3]! + 7])(
    "is damaged where it ends at byte %i, before its checkpoint",
    async (bytes) => {
      await withCheckpoint();
      await truncate(path, bytes);
      const sink = fileSink(path);
      const damage = "Event 3 is missing: the log ends before its checkpoint.";
      expect(await sink.open()).toMatchObject({ damage });
      await sink.close();
    },
  );

  it.each<[string, () => Promise<unknown>]>([
    ["is gone", () => rm(`${path}.checkpoint`)],
    ["is empty", () => writeFile(`${path}.checkpoint`, "")],
    ["is no text of ours", () => writeFile(`${path}.checkpoint`, Buffer.from([0xff, 10, 0]))],
    ["is in another place", () => writeFile(`${path}.checkpoint`, `[3,${starts[3]! + 1},${starts[4]}]\nstate`)],
    ["is of another event", () => writeFile(`${path}.checkpoint`, `[3,${starts[2]},${starts[3]}]\nstate`)],
    ["has an event that was changed", () => changeByte(starts[3]! + 20)],
  ])("is read whole where the checkpoint %s", async (_, change) => {
    await withCheckpoint();
    await change();
    await changeByte(starts[1]! + 20);
    const sink = fileSink(path);
    expect((await sink.open()).damage).toContain("was damaged at byte");
    expect(await sink.readCheckpoint!()).toBeUndefined();
    await sink.close();
  });
});
