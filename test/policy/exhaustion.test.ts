import {
  type AuditSink,
  createKernel,
  defaultModeTriggers,
  type KernelOptions,
  memorySink,
  type ModeTrigger,
} from "@keyhole/kernel";
import { describe, expect, it, vi } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";

/* Resources that are short, or at their end: the mode becomes stricter before the log cannot be written any more. */

const subject = toolOf(() => 1);
/** What a file system, SQLite in a Durable Object and a browser say when they are full. */
const fullStorages: readonly (readonly [string, Error])[] = [
  ["ENOSPC", Object.assign(new Error("write failed"), { code: "ENOSPC" })],
  ["EDQUOT", Object.assign(new Error("write failed"), { code: "EDQUOT" })],
  ["SQLITE_FULL", new Error("database or disk is full: SQLITE_FULL")],
  ["QuotaExceededError", new DOMException("The quota was exceeded.", "QuotaExceededError")],
  ["a cause", new Error("no", { cause: Object.assign(new Error("write failed"), { code: "ENOSPC" }) })],
];

/** The first test holds each error by itself; a checkpoint is due after thousands of calls. */
const atCheckpoint = sized(fullStorages.slice(0, 1), fullStorages);

const bench = (options: KernelOptions): ReturnType<typeof openKernel> =>
  openKernel(options).then((opened) => {
    opened.kernel.registerTrusted(subject);
    return opened;
  });

describe("a storage that is full", () => {
  const triggers: readonly ModeTrigger[] = [{ on: "space", to: "DEGRADED" }];

  it.each(fullStorages)("is heard where the log cannot be written: %s", async (_, error) => {
    const memory = memorySink();
    let isFull = false;
    const sink: AuditSink = {
      open: () => memory.open(),
      read: (from, limit) => memory.read(from, limit),
      append: (records) => (isFull ? Promise.reject(error) : memory.append(records)),
    };
    const { kernel } = await bench({ sink, modeTriggers: triggers });
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("NORMAL");
    isFull = true;
    for (let i = 0; i < 2; i++)
      expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "AUDIT_UNAVAILABLE" } });
    expect(kernel.mode).toBe("DEGRADED");
  });

  it.each(atCheckpoint)("is heard where a checkpoint cannot be written, and on record: %s", async (_, error) => {
    const memory = memorySink();
    const writeCheckpoint = vi.fn<() => Promise<void>>(() => Promise.reject(error));
    const sink: AuditSink = {
      open: () => memory.open(),
      read: (from, limit) => memory.read(from, limit),
      append: (records) => memory.append(records),
      readCheckpoint: () => undefined,
      writeCheckpoint,
    };
    const { kernel, events } = await bench({ sink, modeTriggers: triggers });
    while (writeCheckpoint.mock.calls.length === 0)
      await Promise.all(Array.from({ length: 100 }, () => kernel.call("subject", {})));
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("DEGRADED");
    await kernel.call("subject", {});
    expect((await events()).findLast(({ type }) => type === "mode.changed")).toMatchObject({
      payload: { mode: "DEGRADED", reason: "The storage of the log said that it has no space." },
    });
  });

  it.each([
    ["another fault", new Error("EIO: i/o error")],
    ["no error", undefined],
    ["a circle of causes", Object.defineProperty(new Error("x"), "cause", { get: (): unknown => ({ cause: {} }) })],
    ["a getter that throws", Object.defineProperty({}, "code", { get: () => { throw new Error("no"); } })], // prettier-ignore
  ])("is nothing else: %s", async (_, error) => {
    const memory = memorySink();
    let isBroken = false;
    const sink: AuditSink = {
      open: () => memory.open(),
      read: (from, limit) => memory.read(from, limit),
      // eslint-disable-next-line prefer-promise-reject-errors
      append: (records) => (isBroken ? Promise.reject(error) : memory.append(records)),
    };
    const { kernel } = await bench({ sink, modeTriggers: triggers });
    isBroken = true;
    for (let i = 0; i < 3; i++) await kernel.call("subject", {});
    expect(kernel.mode).toBe("NORMAL");
  });
});

describe.each([
  ["space", "freeSpaceBytes", "The storage of the log has 99 bytes free, fewer than 100."],
  ["memory", "freeMemoryBytes", "The memory has 99 bytes free, fewer than 100."],
] as const)("%s that is short", (on, gauge, reason) => {
  const modeTriggers = [{ on, freeBytes: 100, to: "DEGRADED" }] as readonly ModeTrigger[];

  it("makes the mode stricter at the bound, on record, looks every 10 s, and never goes back", async () => {
    const free = vi.fn<() => Promise<number>>(async () => 100);
    const { kernel, clock, events } = await bench({ modeTriggers, resources: { [gauge]: free } });
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("NORMAL");
    free.mockResolvedValue(99);
    await clock.advance(9_999);
    await kernel.call("subject", {});
    expect(free).toHaveBeenCalledTimes(1);
    expect(kernel.mode).toBe("NORMAL");
    await clock.advance(1);
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("DEGRADED");
    expect((await events()).findLast(({ type }) => type === "mode.changed")).toMatchObject({ payload: { reason } });
    free.mockResolvedValue(1_000_000);
    await clock.advance(10_000);
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("DEGRADED");
    await kernel.setMode("LOCKDOWN", "x");
    free.mockResolvedValue(0);
    await clock.advance(10_000);
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("LOCKDOWN");
  });

  it.each([
    ["throws", () => { throw new Error("no"); }], // prettier-ignore
    ["rejects", () => Promise.reject(new Error("no"))],
    ["gives no number", () => "1" as never],
    ["gives NaN", () => NaN],
    ["gives less than nothing", () => -1],
    ["knows nothing", () => undefined],
    ["never answers", () => new Promise<never>(() => {})],
  ])("is nothing that a gauge says that %s", async (_, free) => {
    const { kernel } = await bench({ modeTriggers, resources: { [gauge]: free } });
    for (let i = 0; i < 3; i++) expect((await kernel.call("subject", {})).ok).toBe(true);
    expect(kernel.mode).toBe("NORMAL");
  });

  it("needs its gauge: a trigger that cannot fire is refused", async () => {
    await expect(createKernel({ modeTriggers })).rejects.toThrow(`needs \`resources.${gauge}\``);
  });
});

it("a log that does not keep up makes the mode stricter", async () => {
  const memory = memorySink();
  const gate = Promise.withResolvers<void>();
  let isSlow = false;
  const sink: AuditSink = {
    open: () => memory.open(),
    read: (from, limit) => memory.read(from, limit),
    append: async (records) => {
      if (isSlow) await gate.promise;
      await memory.append(records);
    },
  };
  const { kernel } = await bench({ sink, modeTriggers: [{ on: "backlog", events: 20, to: "DEGRADED" }] });
  await kernel.call("subject", {});
  isSlow = true;
  const calls = [];
  for (let i = 0; kernel.mode === "NORMAL"; i++) {
    expect(i).toBeLessThan(30);
    calls.push(kernel.call("subject", {}, { waitMs: 0 }));
  }
  expect(calls.length).toBeGreaterThan(1);
  isSlow = false;
  gate.resolve();
  await Promise.all(calls);
  expect((await kernel.audit.read()).findLast(({ type }) => type === "mode.changed")).toMatchObject({
    payload: { mode: "DEGRADED", reason: expect.stringMatching(/^2\d events wait for the log\.$/) as string },
  });
});

describe("triggers", () => {
  it.each([
    [{}, "/on is not one of"],
    [{ on: "disk", to: "ALERT" }, "/on is not one of"],
    [{ on: "constructor", to: "ALERT" }, "/on is not one of"],
    [{ on: "memory", to: "ALERT" }, "/freeBytes is not a number above 0"],
    [{ on: "space", freeBytes: "1", to: "ALERT" }, "/freeBytes is not a number above 0"],
    [{ on: "backlog", events: 0, to: "ALERT" }, "/events is not a number above 0"],
    [{ on: "errors", count: 1, windowMs: 1, to: "ALERT" }, "/codes is not a list"],
    [{ on: "failure-rate", ratio: 1, windowMs: 1, to: "ALERT" }, "/minCalls is not a number above 0"],
    [{ on: "space", to: "CALM" }, "There is no mode"],
  ])("that cannot fire are refused: %j", async (trigger, message) => {
    await expect(createKernel({ modeTriggers: [trigger as ModeTrigger] })).rejects.toThrow(message);
  });

  it("by default watch what is there, and lead to DEGRADED alone", async () => {
    expect(defaultModeTriggers().map(({ on }) => on)).toEqual(["space", "backlog"]);
    const resources = { freeSpaceBytes: () => 0, freeMemoryBytes: () => 0 };
    const triggers = defaultModeTriggers(resources);
    expect(triggers.map(({ on }) => on)).toEqual(["space", "memory", "backlog"]);
    expect(new Set(triggers.map(({ to }) => to))).toEqual(new Set(["DEGRADED"]));
    const { kernel } = await bench({ modeTriggers: triggers, resources });
    await kernel.call("subject", {});
    expect(kernel.mode).toBe("DEGRADED");
  });
});
