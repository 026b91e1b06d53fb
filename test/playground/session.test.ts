import * as indexedDb from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deleteSession, SessionDatabase } from "../../packages/playground/src/session/database.ts";
import { limits } from "../../packages/playground/src/session/kept.ts";
import { sessionName } from "../../packages/playground/src/session/names.ts";
import type { SessionPorts } from "../../packages/playground/src/session/session-store.ts";
import { Browser, ended, FakeClient, finished, hash, success, toStart } from "./session-parts.ts";

let browser: Browser;

beforeEach(() => {
  for (const [name, value] of Object.entries(indexedDb)) if (name.startsWith("IDB")) vi.stubGlobal(name, value);
  vi.stubGlobal("indexedDB", new indexedDb.IDBFactory());
  browser = new Browser();
});

afterEach(() => vi.unstubAllGlobals());

describe("a call of the session", () => {
  it("is there after a reload, with events, log lines, input and result", async () => {
    const id = await finished(browser.tab("a"), { said: "hello" });
    browser.close("a");
    const { store } = browser.tab("b");
    await store.settled();
    expect(store.state().heads).toMatchObject([
      { id, tool: "echo@1.0.0", what: "hello", state: "completed", ownMs: 5, waitedMs: 4, events: 2, logs: 1, hash },
    ]);
    expect(await store.read(id)).toMatchObject({
      phase: "done",
      input: { message: "hello" },
      events: [{ seq: 1 }, { seq: 2 }],
      logs: [{ level: "info", message: "a line" }],
      result: { ok: true, data: { said: "hello" } },
    });
  });

  it("is said to be gone where the browser lost its database, and not where a person deleted it", async () => {
    const id = await finished(browser.tab("a"), "x");
    browser.close("a");
    await deleteSession();
    const { store } = browser.tab("b");
    await store.settled();
    expect(store.state()).toMatchObject({ heads: [], isLost: true, isLoaded: true, fault: undefined });

    const other = browser.tab("c");
    const again = await finished(other, "y");
    expect(again).not.toBe(id);
    await other.store.removeAll();
    const { store: last } = browser.tab("d");
    await last.settled();
    expect(last.state()).toMatchObject({ heads: [], isLost: false });
  });

  it("keeps bytes as bytes, and the file that a tool streamed", async () => {
    const tab = browser.tab("a");
    const id = await finished(tab, new Uint8Array([1, 2, 255]));
    expect(await tab.store.read(id)).toMatchObject({ result: { data: new Uint8Array([1, 2, 255]) } });
  });

  it.each([
    ["at the limit", limits.dataBytes, 0],
    ["one past it", limits.dataBytes + 1, 1],
  ])("has a result %s of what is kept, and says what is not", async (_, length, sentences) => {
    const tab = browser.tab("a");
    const data = "x".repeat(length);
    const id = await finished(tab, data);
    const run = await tab.store.read(id);
    expect(run).toMatchObject({ phase: "done", result: { data: sentences === 0 ? data : null } });
    expect(run?.phase === "done" && run.unkept).toHaveLength(sentences);
  });

  it("goes on while another one is started, and both end", async () => {
    const tab = browser.tab("a");
    const fake = new FakeClient();
    const [first, second] = [tab.calls.start(fake.client, toStart()), tab.calls.start(fake.client, toStart())];
    expect(fake.made.map(({ call }) => call.signal.aborted)).toEqual([false, false]);
    fake.made[1]!.answer.resolve({ result: success("second") });
    await ended(tab.calls, second);
    fake.made[0]!.answer.resolve({ result: success("first") });
    await ended(tab.calls, first);
    expect(tab.calls.shown(first)).toMatchObject({ run: { result: { data: "first" } } });
    tab.calls.cancel(second);
    expect(fake.made[1]!.call.signal.aborted).toBe(true);
    expect(fake.made[0]!.call.signal.aborted).toBe(false);
  });

  it("ends as left when the page turns away from its kernel", async () => {
    const tab = browser.tab("a");
    const fake = new FakeClient();
    const id = tab.calls.start(fake.client, toStart());
    tab.calls.leave(fake.client);
    expect(fake.made[0]!.call.signal.aborted).toBe(true);
    await tab.store.settled();
    expect(tab.store.state().heads).toMatchObject([{ id, state: "left" }]);
  });
});

describe("two tabs", () => {
  it("see the calls of each other, and what is deleted", async () => {
    const [a, b] = [browser.tab("a"), browser.tab("b")];
    const id = await finished(a, 1);
    await b.store.settled();
    expect(b.store.state().heads.map((head) => head.id)).toEqual([id]);
    await b.store.remove([id]);
    await a.store.settled();
    expect(a.store.state().heads).toEqual([]);
    expect(await a.store.read(id)).toBeUndefined();
  });

  it("delete no call that runs", async () => {
    const [a, b] = [browser.tab("a"), browser.tab("b")];
    const id = a.calls.start(new FakeClient().client, toStart());
    await a.store.settled();
    await b.store.settled();
    await b.store.remove([id]);
    expect(b.store.state().heads).toMatchObject([{ id, state: "running" }]);
  });

  it("know a call as left whose tab is closed before the end", async () => {
    const [a, b] = [browser.tab("a"), browser.tab("b")];
    const id = a.calls.start(new FakeClient().client, toStart());
    await a.store.settled();
    await b.store.settled();
    expect(b.store.state().heads).toMatchObject([{ state: "running" }]);
    const left = new Promise<void>((resolve) =>
      b.store.subscribe(() => b.store.state().heads[0]?.state === "left" && resolve()),
    );
    browser.close("a");
    await left;
    await b.store.settled();
    expect(await b.store.read(id)).toMatchObject({ phase: "broken", fault: { kind: "left" } });
  });

  it("take nothing of another version's messages that they do not know", async () => {
    let hear: (foreign: unknown) => void = () => {};
    const { store } = browser.tab("a", { listen: (listener) => (hear = listener) });
    for (const foreign of [null, 1, "x", {}, { ids: 1 }, { ids: [1, {}] }, { type: "changed", ids: ["none"] }])
      hear(foreign);
    await store.settled();
    expect(store.state()).toMatchObject({ heads: [], fault: undefined });
  });
});

describe("a storage that fails", () => {
  const full = (): Promise<never> => Promise.reject(new DOMException("no room", "QuotaExceededError"));

  it("loses nothing of this tab, says so, and stores all once there is room", async () => {
    const tab = browser.tab("a");
    await tab.store.settled();
    const write = vi.spyOn(SessionDatabase.prototype, "write").mockImplementation(full);
    const id = await finished(tab, "kept");
    expect(tab.store.state()).toMatchObject({ fault: { kind: "full", reason: "no room" }, unsaved: 1 });
    expect(tab.store.isSaved(id)).toBe(false);
    expect(tab.calls.shown(id)).toMatchObject({ run: { result: { data: "kept" } } });

    write.mockRestore();
    await tab.store.remove([]);
    expect(tab.store.state()).toMatchObject({ fault: undefined, unsaved: 0 });
    expect(await tab.store.read(id)).toMatchObject({ events: [{ seq: 1 }, { seq: 2 }], result: { data: "kept" } });
  });

  it.each([0, 1, 2, 3])("loses nothing where there is no room at write %i alone", async (failing) => {
    const tab = browser.tab("a");
    await tab.store.settled();
    const own = SessionDatabase.prototype.write;
    let writes = 0;
    vi.spyOn(SessionDatabase.prototype, "write").mockImplementation(function (this: SessionDatabase, changes) {
      return writes++ === failing ? full() : own.call(this, changes);
    });
    const ids = [await finished(tab, "one"), await finished(tab, "two")];
    await tab.store.remove([]);
    expect(writes).toBeGreaterThan(failing);
    vi.restoreAllMocks();
    const { store } = browser.tab("b");
    await store.settled();
    for (const [at, data] of ["one", "two"].entries())
      expect(await store.read(ids[at]!)).toMatchObject({ events: [{ seq: 1 }, { seq: 2 }], result: { data } });
  });

  it("keeps more calls in memory than it would where they are stored", async () => {
    const tab = browser.tab("a", { open: full });
    const ids: string[] = [];
    for (let count = 0; count < 20; count++) ids.push(await finished(tab, count));
    expect(ids.map((id) => tab.calls.shown(id))).toMatchObject(ids.map((_, data) => ({ run: { result: { data } } })));
    expect(tab.store.state()).toMatchObject({ unsaved: 20, fault: { kind: "full" } });
  });

  it("keeps one call from being stored, and no other", async () => {
    const tab = browser.tab("a");
    const odd = await finished(tab, { run: () => "a function cannot be stored" });
    const plain = await finished(tab, 1);
    expect([tab.store.isSaved(odd), tab.store.isSaved(plain)]).toEqual([false, true]);
    expect(tab.store.state()).toMatchObject({ unsaved: 1, fault: { kind: "refused" } });
  });

  it("may be refused as a whole: then it is deleted when the person asks for it", async () => {
    let isDamaged = true;
    const open: SessionPorts["open"] = (onLost) =>
      isDamaged ? Promise.reject(new DOMException("damaged", "UnknownError")) : SessionDatabase.open(onLost);
    const destroy = (): Promise<void> => {
      isDamaged = false;
      return deleteSession();
    };
    const tab = browser.tab("a", { open, destroy });
    const id = await finished(tab, 1);
    expect(tab.store.state()).toMatchObject({ fault: { kind: "refused", reason: "damaged" }, unsaved: 1 });
    await tab.store.removeAll();
    expect(tab.store.state()).toMatchObject({ fault: undefined, unsaved: 0, heads: [{ id }] });
  });

  it("may hold calls that cannot be read: they are counted, and stay until they are deleted", async () => {
    const { store: first } = browser.tab("a");
    await first.settled();
    const open = await SessionDatabase.open(() => {});
    await open.write([{ head: { id: "odd", state: "humming" } as never, pieces: [] }]);
    const { store } = browser.tab("b");
    await store.settled();
    expect(store.state()).toMatchObject({ heads: [], unreadable: ["odd"], fault: undefined });
    await store.remove(["odd"]);
    expect(store.state().unreadable).toEqual([]);
    expect(await open.heads()).toEqual([]);
    open.close();
  });

  it("is opened again after the browser closed it", async () => {
    const lost: (() => void)[] = [];
    const open: SessionPorts["open"] = (onLost) => {
      lost.push(onLost);
      return SessionDatabase.open(onLost);
    };
    const tab = browser.tab("a", { open });
    await finished(tab, 1);
    expect(indexedDB.databases && (await indexedDB.databases()).map(({ name }) => name)).toEqual([sessionName]);
    lost[0]!();
    const id = await finished(tab, 2);
    expect(tab.store.isSaved(id)).toBe(true);
    expect(lost).toHaveLength(2);
  });
});
