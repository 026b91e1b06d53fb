import { IsolateFailure, type IsolateHost } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import type { Lease, Owner, Waiter } from "../../packages/kernel/src/isolate/pool/lease.ts";
import { IsolatePool } from "../../packages/kernel/src/isolate/pool/pool.ts";
import type { RegisteredTool } from "../../packages/kernel/src/tool/package.ts";
import { backoffOf } from "../support/backoff.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { hostOpening } from "../support/module-host.ts";

/** A pool with so many places, as runs ask it, and what it opened. */
function poolOf(capacity: number) {
  const opened: string[] = [];
  const open: IsolateHost["open"] = async ({ id }) => {
    opened.push(id);
    let alive = true;
    return {
      call: () => Promise.reject(new Error("Nobody calls it.")),
      terminate: () => void (alive = false),
      get alive() {
        return alive;
      },
    };
  };
  const pool = new IsolatePool(hostOpening("a host", open, { capacity }), new FakeClock(), { backoff: backoffOf() });
  const lease = async (
    id: string,
    callId: string,
    within: string[] = [],
    waiter: Waiter = {},
    session: Pick<Owner, "caller" | "sessionId"> = { caller: "", sessionId: "" },
  ): Promise<Lease> => {
    const tool = { id, hash: id, manifest: { name: id } } as RegisteredTool;
    const owner: Owner = { ...session, callId, within, around: 0 };
    try {
      return await pool.lease(tool, owner, waiter);
    } catch (error) {
      waiter.leave?.(); // As a run does when it ends.
      throw error;
    }
  };
  return { pool, lease, opened };
}

describe("a call that waits for a place", () => {
  it("and leaves takes nobody along who comes after it", async () => {
    const { lease } = poolOf(1);
    const outer = await lease("outer", "o");
    const ends: Waiter = {};
    const ended = lease("inner", "i", [], ends);
    ends.leave?.();
    const next = lease("inner", "n");
    outer.release();
    await expect(ended).rejects.toMatchObject({ code: "ISOLATE_LOST" });
    expect((await next).isolate.alive).toBe(true);
  });
});

describe("a tool that goes on when no call runs", () => {
  it("waits before it is opened again, and gives its place back", async () => {
    const { promise: watched, resolve: watch } = Promise.withResolvers<() => void>();
    const begun: unknown[] = [];
    let alive = true;
    const open: IsolateHost["open"] = async () => ({
      call: () => Promise.reject(new Error("Nobody calls it.")),
      watch: (onWentOn) => watch(onWentOn),
      terminate: () => void (alive = false),
      get alive() {
        return alive;
      },
    });
    const pool = new IsolatePool(hostOpening("a host", open, { capacity: 1 }), new FakeClock(), {
      backoff: backoffOf((payload) => begun.push(payload)),
    });
    const tool = { id: "tool", hash: "tool", manifest: { name: "tool" } } as RegisteredTool;
    const other = { id: "other", hash: "other", manifest: { name: "other" } } as RegisteredTool;
    const owner: Owner = { caller: "ada", sessionId: "s", callId: "c", within: [], around: 0 };
    (await pool.lease(tool, owner)).release();
    alive = false; // The host has ended it.
    const tell = await watched;
    tell();
    tell();
    await settle();
    expect(begun).toEqual([
      { tool: "tool", toolHash: "tool", caller: "ada", cause: "went-on", failures: 1, restMs: 1_000 },
    ]);
    await expect(pool.lease(tool, owner)).rejects.toMatchObject({
      code: "ISOLATE_LOST",
      message: "tool is in quarantine: its isolate failed once.",
    });
    alive = true;
    expect((await pool.lease(other, owner)).isolate.alive).toBe(true);
  });
});

describe("programs of one tool that fail at their load", () => {
  const owner: Owner = { caller: "ada", sessionId: "s", callId: "c", within: [], around: 0 };
  const program = (n: number): RegisteredTool =>
    ({ id: "run", hash: `program ${n}`, composedOf: "run", manifest: { name: "run" } }) as RegisteredTool;
  const failed = async (failure: IsolateFailure, caller = "ada") => {
    const begun: unknown[] = [];
    const pool = new IsolatePool(
      hostOpening("a host", () => Promise.reject(failure)),
      new FakeClock(),
      {
        backoff: backoffOf((payload) => begun.push(payload)),
      },
    );
    const lease = async (n: number, by: string) => pool.lease(program(n), { ...owner, caller: by });
    for (let n = 1; n <= 3; n++) await lease(n, "ada").catch(() => {});
    const next = await lease(4, caller).catch((error: Error) => error.message);
    return { begun, next };
  };

  it("count together where they took their isolate or its time along, for their caller alone", async () => {
    const lost = new IsolateFailure("ISOLATE_LOST", "It spins.");
    expect(await failed(lost)).toEqual({
      begun: [{ tool: "run", toolHash: "run", caller: "ada", failures: 3, restMs: 1_000 }],
      next: "run is in quarantine: its isolate failed 3 times in a row.",
    });
    expect(await failed(lost, "bob")).toMatchObject({ next: "It spins." });
  });

  it("count each alone where their code has an error, and not at all where the machine was lost", async () => {
    const error = new IsolateFailure("TOOL_ERROR", "SyntaxError", {}, "code");
    expect(await failed(error)).toEqual({ begun: [], next: "SyntaxError" });
    const machine = new IsolateFailure("ISOLATE_LOST", "gone", {}, "host");
    expect(await failed(machine)).toEqual({ begun: [], next: "gone" });
  });
});

it("an isolate that opens after its host gave it up gives its place back", async () => {
  const { promise: opening, resolve: open } = Promise.withResolvers<void>();
  const terminated: string[] = [];
  const host: IsolateHost["open"] = async ({ id }, isWanted) => {
    if (id === "late") await opening;
    isWanted?.();
    return { call: () => new Promise(() => {}), terminate: () => void terminated.push(id), alive: true };
  };
  const pool = new IsolatePool(hostOpening("a host", host, { capacity: 1 }), new FakeClock(), { backoff: backoffOf() });
  const owner: Owner = { caller: "ada", sessionId: "s", callId: "c", within: [], around: 0 };
  const toolOf = (id: string): RegisteredTool => ({ id, hash: id, manifest: { name: id } }) as RegisteredTool;
  const waiter: Waiter = {};
  const late = Promise.resolve(pool.lease(toolOf("late"), owner, waiter)).then(({ release }) => release());
  waiter.leave?.();
  open();
  await late;
  expect((await pool.lease(toolOf("other"), owner)).isolate.alive).toBe(true);
  expect(terminated).toEqual(["late"]);
});

describe("a tool that is retired", () => {
  const owner: Owner = { caller: "", sessionId: "s", callId: "c", within: [], around: 0 };
  const objectOf = (): RegisteredTool => ({ id: "tool", hash: "same", manifest: { name: "tool" } }) as RegisteredTool;

  it("shares no isolate with another object of its hash, also in a call that comes late", async () => {
    const { pool } = poolOf(8);
    const [one, other] = [objectOf(), objectOf()];
    const before = await pool.lease(one, owner);
    pool.retire(one);
    const late = await pool.lease(one, owner);
    const next = await pool.lease(other, owner);
    expect(new Set([before, late, next].map(({ isolate }) => isolate)).size).toBe(3);
    for (const { release } of [before, late, next]) release();
    await settle();
    expect([before, late, next].map(({ isolate }) => isolate.alive)).toEqual([false, false, true]);
    expect((await pool.lease(other, owner)).isolate).toBe(next.isolate);
  });

  it("ends with its pool", async () => {
    const { pool } = poolOf(8);
    const tool = objectOf();
    const [used, another] = [await pool.lease(tool, owner), await pool.lease(tool, { ...owner, sessionId: "t" })];
    pool.retire(tool);
    pool.close();
    await settle();
    expect([used, another].map(({ isolate }) => isolate.alive)).toEqual([false, false]);
  });
});

describe("callers that wait for a place of one tool", () => {
  it("take turns: a burst of sessions of one delays a session of another by one", async () => {
    const { lease } = poolOf(1);
    const served: string[] = [];
    const begin = async (caller: string, sessionId: string): Promise<void> => {
      const { release } = await lease("tool", sessionId, [], {}, { caller, sessionId });
      served.push(sessionId);
      await settle();
      release();
    };
    const burst = Array.from({ length: 5 }, (_, n) => begin("burst", `burst ${n}`));
    await Promise.all([...burst, begin("other", "other")]);
    expect(served.indexOf("other")).toBe(2);
  });
});

const refused = { code: "BOUNDS_EXCEEDED" };

describe("a call that waits for a place within another one", () => {
  it("keeps no place that comes back while it is being refused", async () => {
    const { lease, opened } = poolOf(1);
    const outer = await lease("outer", "o");
    const inner = lease("inner", "i", ["o"]);
    outer.release(); // It did not wait for what it called.
    await expect(inner).rejects.toMatchObject(refused);
    let hasPlace = false;
    void lease("other", "p").then(() => (hasPlace = true));
    await settle();
    expect({ hasPlace, opened }).toEqual({ hasPlace: true, opened: ["outer", "other"] });
  });

  it("leaves others that wait for the same isolate where they are, when it is refused", async () => {
    const { lease } = poolOf(1);
    const outer = await lease("outer", "o");
    const free = lease("inner", "free");
    const inner = lease("inner", "i", ["o"]);
    await expect(inner).rejects.toMatchObject(refused);
    outer.release();
    expect((await free).isShared()).toBe(false);
  });

  it("blocks nobody any more when it has ended, also where others wait for the same isolate", async () => {
    const { lease } = poolOf(6);
    const [one, two, three] = [await lease("a", "one"), await lease("b", "two"), await lease("c", "three")];
    const ends: Waiter = {};
    const ended = lease("inner", "i", ["one"], ends);
    const stays = lease("inner", "j", ["two"]);
    ends.leave?.(); // Its deadline; whoever called it goes on.
    const waits = lease("other", "k", ["three"]);
    one.release();
    for (const { release } of await Promise.all([ended, stays])) release();
    (await waits).release();
    for (const { release } of [two, three]) release();
  });
});
