import type { AuditEvent } from "@keyhole/kernel";
import * as indexedDb from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { KernelClient } from "../../packages/playground/src/client/kernel-client.ts";
import { gapMs, watchEvents } from "../../packages/playground/src/client/watch-events.ts";
import type { CallChange } from "../../packages/playground/src/session/database.ts";
import { SessionDatabase } from "../../packages/playground/src/session/database.ts";
import { Paced } from "../../packages/playground/src/session/paced.ts";
import type { SessionStore } from "../../packages/playground/src/session/session-store.ts";
import { WatchedCalls } from "../../packages/playground/src/session/watched.ts";
import { Browser, FakeClient } from "./session-parts.ts";
import { done, invoked, log, started } from "./timeline-parts.ts";

/** Calls from their first event to their end. */
const ofCalls = (count: number, first = 0): readonly AuditEvent[] =>
  log(
    Array.from({ length: count }, (_, at) => `c${first + at}`).flatMap((id) => [
      invoked(0, id),
      started(1, id),
      done(2, id),
    ]),
  );

const client: KernelClient = { ...new FakeClient().client, place: "edge", address: "https://edge.example" };

describe("a page that watches a busy kernel", () => {
  beforeEach(() => {
    for (const [name, value] of Object.entries(indexedDb)) if (name.startsWith("IDB")) vi.stubGlobal(name, value);
    vi.stubGlobal("indexedDB", new indexedDb.IDBFactory());
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  it("draws once for a part of the log, and writes its 100 calls in two pieces", async () => {
    const browser = new Browser();
    const { store } = browser.tab("a");
    await store.settled();
    const [write, drawn] = [vi.spyOn(SessionDatabase.prototype, "write"), vi.fn<() => void>()];
    store.subscribe(drawn);
    new WatchedCalls(store, "a", client, () => false).take(ofCalls(100));
    await store.settled();
    expect(store.state()).toMatchObject({ unsaved: 0, fault: undefined });
    expect(store.state().heads).toHaveLength(100);
    expect(write.mock.calls.map(([changes]) => changes.length)).toEqual([50, 50]);
    expect(drawn.mock.calls.length).toBeLessThanOrEqual(2);
    expect(browser.told).toHaveLength(1);
  });

  it("tries few calls apart where there is no room, and stores all once there is", async () => {
    const { store } = new Browser().tab("a");
    await store.settled();
    const write = vi
      .spyOn(SessionDatabase.prototype, "write")
      .mockImplementation(() => Promise.reject(new DOMException("no room", "QuotaExceededError")));
    new WatchedCalls(store, "a", client, () => false).take(ofCalls(200));
    await store.settled();
    expect(store.state()).toMatchObject({ unsaved: 200, fault: { kind: "full" } });
    expect(write.mock.calls.length).toBe(4 + 50);
    write.mockRestore();
    await store.remove([]);
    expect(store.state()).toMatchObject({ unsaved: 0, fault: undefined });
  });
});

describe("the calls of a watched kernel", () => {
  it("are kept to a bound: the oldest go, and none that a person looks at", () => {
    const heads = new Map<string, CallChange["head"]>();
    const store = {
      state: () => ({ heads: [] }),
      save: ({ head }: CallChange) => heads.set(head.id, head),
      remove: (ids: readonly string[]) => ids.forEach((id) => heads.delete(id)),
    };
    const most = 100;
    const isShown = (id: string): boolean => id === "watched-c0";
    const watched = new WatchedCalls(store as unknown as SessionStore, "a", client, isShown, most);
    for (let first = 0; first < 4 * most; first++) {
      watched.take(ofCalls(1, first));
      expect(heads.size).toBeLessThanOrEqual(most * 1.05 + 1);
    }
    expect(heads.size).toBeGreaterThanOrEqual(most);
    expect(heads.has("watched-c0")).toBe(true);
    expect(heads.has("watched-c1")).toBe(false);
    expect(heads.has(`watched-c${4 * most - 1}`)).toBe(true);
  });
});

describe("work at a pace", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("asks a kernel that always has events ten times a second, until it stops", async () => {
    const get = vi.fn<() => Promise<unknown>>(() => Promise.resolve({ events: [], next: 1 }));
    const stop = watchEvents({ get }, 0, () => {});
    await vi.advanceTimersByTimeAsync(gapMs * 10 - 1);
    expect(get).toHaveBeenCalledTimes(10);
    stop();
    await vi.advanceTimersByTimeAsync(gapMs * 10);
    expect(get).toHaveBeenCalledTimes(10);
  });

  it("is done at once, then once for any number of asks in a gap", () => {
    const task = vi.fn<() => void>();
    const paced = new Paced(task, 100);
    for (let asked = 0; asked < 50; asked++) paced.ask();
    expect(task).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    expect(task).toHaveBeenCalledTimes(2);
    paced.ask();
    paced.flush();
    expect(task).toHaveBeenCalledTimes(3);
    vi.advanceTimersByTime(1_000);
    expect(task).toHaveBeenCalledTimes(3);
    paced.ask();
    expect(task).toHaveBeenCalledTimes(4);
    paced.ask();
    paced.stop();
    vi.advanceTimersByTime(1_000);
    expect(task).toHaveBeenCalledTimes(4);
  });

  it("is never done twice at a time", async () => {
    let running = 0;
    const most: number[] = [];
    const paced = new Paced(async () => {
      most.push(++running);
      await new Promise((resolve) => setTimeout(resolve, 500));
      running--;
    }, 100);
    for (let step = 0; step < 20; step++) {
      paced.ask();
      await vi.advanceTimersByTimeAsync(50);
    }
    await vi.advanceTimersByTimeAsync(2_000);
    expect(most).toEqual([1, 1, 1]);
  });
});
