import { mkdtemp, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, lineOf } from "@keyhole/kernel";
import { lines, verifyAudit } from "@keyhole/kernel/audit";
import { fileSink } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { heldDuring } from "../support/held-memory.ts";
import { echo, openPolicy } from "../support/kernel.ts";
import { sampled } from "../support/sampled.ts";
import { sized } from "../support/size.ts";
import { recordsOf } from "./log-of.ts";

let folder: string;
let path: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-log-"));
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

async function reopen(bytes: Uint8Array) {
  await writeFile(path, bytes);
  const sink = fileSink(path, { fsync: "never" });
  const state = await sink.open();
  return { sink, state };
}

async function startOn(bytes: Uint8Array) {
  await writeFile(path, bytes);
  const sink = fileSink(path);
  const kernel = await createKernel({ sink, policy: openPolicy });
  kernel.registerTrusted(echo);
  const result = await kernel.call("echo", { message: "next" });
  await kernel.close();
  await sink.close();
  return { kernel, result };
}

describe("a log file whose last write was torn", () => {
  it("is cut to its last whole record, at every byte of the last two", async () => {
    for (const more of sampled(whole.length + 1 - starts[4]!, 7)) {
      const length = starts[4]! + more;
      const kept = starts.findLastIndex((start) => start <= length);
      const { sink, state } = await reopen(whole.subarray(0, length));
      expect(state, `${length} bytes`).toEqual({
        last: records[kept - 1],
        cutBytes: length - starts[kept]!,
        damage: null,
      });
      expect(await readFile(path)).toEqual(whole.subarray(0, starts[kept]));
      await sink.close();
    }
  });

  it.each([
    ["zeros", new Uint8Array(700)],
    ["half a character", Uint8Array.of(0xe2, 0x82)],
  ])("also by %s", async (_, tail) => {
    const { sink, state } = await reopen(Buffer.concat([whole, tail]));
    expect(state).toEqual({ last: records[5], cutBytes: tail.length, damage: null });
    await sink.close();
  });

  it("leaves its tail in a file beside it, also a second time at the same place", async () => {
    for (const [suffix, tail] of [
      ["", "first"],
      ["-2", "second"],
    ] as const) {
      const { sink } = await reopen(Buffer.concat([whole, Buffer.from(tail)]));
      await sink.close();
      const beside = `${path}.torn-${whole.length}${suffix}`;
      expect(await readFile(beside, "utf8")).toBe(tail);
      expect((await stat(beside)).mode & 0o777).toBe(0o600);
    }
  });

  it("also by a tail without a line end, in memory for one line", async () => {
    const tailBytes = sized(2 ** 27, 2 ** 30);
    await writeFile(path, whole);
    await truncate(path, whole.length + tailBytes);
    const sink = fileSink(path, { fsync: "never" });
    const { result, peakBytes } = await heldDuring(() => sink.open());
    expect(result).toEqual({ last: records[5], cutBytes: tailBytes, damage: null });
    // A line may have 16 MiB; the pieces that are read lie beside it.
    expect(peakBytes).toBeLessThan(64 * 2 ** 20);
    await sink.close();
  });

  it("is gone on with, on record, and calls without an end get one", async () => {
    const { kernel, result } = await startOn(whole.subarray(0, starts[5]! + 100));
    expect(kernel.mode).toBe("NORMAL");
    expect(result).toMatchObject({ ok: true });
    const file = await readFile(path);
    expect(await verifyAudit(lines([file]))).toMatchObject({ verdict: "unvouched" });
    const types = file
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types.slice(5, 7)).toEqual(["log.recovered", "tool.lost"]);
  });
});

describe("a log file that was damaged", () => {
  const flip = (at: number): Buffer => {
    const copy = Buffer.from(whole);
    copy[at]! ^= 1;
    return copy;
  };

  it.each<[string, () => Buffer]>([
    ["a changed bit", () => flip(starts[2]! + 50)],
    ["a record taken out", () => Buffer.concat([whole.subarray(0, starts[2]), whole.subarray(starts[3])])],
    [
      "two records in another order",
      () =>
        Buffer.concat([
          whole.subarray(0, starts[2]),
          whole.subarray(starts[3], starts[4]),
          whole.subarray(starts[2], starts[3]),
          whole.subarray(starts[4]),
        ]),
    ],
    ["a record twice", () => Buffer.concat([whole.subarray(0, starts[3]), whole.subarray(starts[2])])],
    [
      "a line put in",
      () => Buffer.concat([whole.subarray(0, starts[3]), Buffer.from("{}\n"), whole.subarray(starts[3])]),
    ],
    ["a changed bit in its last event", () => flip(starts[5]! + 50)],
    ["a changed line end of its last event", () => flip(whole.length - 1)],
    ["a line of zeros at its end", () => Buffer.concat([whole, new Uint8Array(700), Buffer.from("\n")])],
    ["half a character and a line end", () => Buffer.concat([whole, Buffer.of(0xe2, 0x82, 10)])],
    ["two lines of nonsense at its end", () => Buffer.concat([whole, Buffer.from("x\ny\n")])],
    ["its beginning overwritten", () => Buffer.concat([Buffer.from("x".repeat(40)), whole.subarray(40)])],
  ])("by %s locks the kernel down, and stays as it is", async (_, damage) => {
    const damaged = damage();
    const { kernel, result } = await startOn(damaged);
    expect(kernel.mode).toBe("LOCKDOWN");
    expect(result).toMatchObject({ ok: true }); // tier 0 without effects can do no harm
    const file = await readFile(path);
    expect(file.subarray(0, damaged.length)).toEqual(damaged);
    const added = file.subarray(damaged.length).toString();
    expect(JSON.parse(added.split("\n")[0]!)).toMatchObject({ type: "mode.changed", payload: { mode: "LOCKDOWN" } });
    expect(await verifyAudit(lines([file]))).toMatchObject({ verdict: "broken" });
  });

  it("still shows what is left of it", async () => {
    const { sink, state } = await reopen(flip(starts[2]! + 50));
    expect(state.damage).toBe(`The log was damaged at byte ${starts[2]}: the line is not an event.`);
    expect(await sink.read(0, 10)).toEqual(records.toSpliced(2, 1));
    expect(await sink.read(3, 2)).toEqual(records.slice(3, 5));
    await sink.close();
  });
});

it("a decision that ten thousand rules made is an event that can be read again", async () => {
  const rules = Array.from({ length: 10_000 }, (_, i) => ({
    id: `rule-${i}-${"x".repeat(48)}`,
    effect: "ask" as const,
    when: {},
    reason: "asked",
  }));
  const sink = fileSink(path);
  const kernel = await createKernel({ sink, policy: { ...openPolicy, rules } });
  kernel.registerTrusted(echo);
  expect(await kernel.call("echo", { message: "one" })).toMatchObject({ ok: false });
  await kernel.setMode("ALERT", "drill");
  await kernel.close();
  await sink.close();
  const again = fileSink(path);
  expect(await again.open()).toMatchObject({ cutBytes: 0, damage: null });
  await again.close();
  const file = await readFile(path);
  expect(
    Math.max(
      ...file
        .toString()
        .split("\n")
        .map(({ length }) => length),
    ),
  ).toBeGreaterThan(1_048_576);
  expect(await verifyAudit(lines([file]))).toMatchObject({ verdict: "unvouched" });
});

describe("a log file that somebody else", () => {
  it.each<[string, () => Promise<void>]>([
    ["writes into", () => writeFile(path, "intruder\n", { flag: "a" })],
    ["removed", () => rm(path)],
  ])("%s takes nothing more, and then nothing runs", async (_, meddle) => {
    const sink = fileSink(path);
    const kernel = await createKernel({ sink, policy: openPolicy });
    kernel.registerTrusted(echo);
    expect(await kernel.call("echo", { message: "one" })).toMatchObject({ ok: true });
    await meddle();
    expect(await kernel.call("echo", { message: "two" })).toMatchObject({
      ok: false,
      error: { code: "AUDIT_UNAVAILABLE" },
    });
    await kernel.close();
    await sink.close();
  });

  it("writes into at the same moment, without its lock, never keeps what both wrote", async () => {
    for (let round = 0; round < 20; round++) {
      await rm(path, { force: true });
      const sinks = [fileSink(path), fileSink(path)];
      for (const sink of sinks) await rm(`${path}.lock`, { force: true }).then(() => sink.open());
      const written = await Promise.allSettled(sinks.map((sink) => sink.append(records.slice(0, 1 + (round % 6)))));
      expect(written.filter(({ status }) => status === "fulfilled").length).toBeLessThan(2);
      for (const sink of sinks) await sink.close();
    }
  });

  it("replaced takes nothing more either", async () => {
    const sink = fileSink(path);
    await sink.open();
    await sink.append(records.slice(0, 2));
    await writeFile(`${path}.new`, await readFile(path));
    await rename(`${path}.new`, path);
    await expect(Promise.resolve(sink.append(records.slice(2)))).rejects.toThrow("the log file was removed");
    await sink.close();
  });

  it("took away is not there, which the kernel says at once", async () => {
    await expect(createKernel({ sink: fileSink(join(folder, "no", "such", "folder")) })).rejects.toThrow("ENOENT");
  });
});
