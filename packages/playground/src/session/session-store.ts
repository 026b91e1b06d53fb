import { Listeners } from "../client/listeners.ts";
import type { ActiveRun } from "../run/run-state.ts";
import { type CallHead, isOpen } from "./call-head.ts";
import type { CallChange, SessionDatabase } from "./database.ts";
import { Paced } from "./paced.ts";
import type { Facts, SessionFault, SessionState } from "./session-state.ts";

/** The guards of what is stored: a page without calls does without them. */
const reading = (): Promise<typeof import("./read-call.ts")> => import("./read-call.ts");

type Told = { readonly type: "changed" | "removed"; readonly ids: readonly string[] };

export interface SessionPorts {
  /** This tab. */
  readonly tab: string;
  readonly open: (onLost: () => void) => Promise<SessionDatabase>;
  /** Deletes all of it, also unreadable calls. */
  readonly destroy: () => Promise<void>;
  /** Whether this browser stored calls. It outlives the database. */
  readonly hasStored: { readonly read: () => boolean; readonly write: (has: boolean) => void };
  readonly tell: (told: Told) => void;
  /** Takes what other tabs told. */
  readonly listen: (listener: (foreign: unknown) => void) => void;
  /** Resolves when the tab closes. */
  readonly whenGone: (tab: string) => Promise<void>;
}

/** Between two changes that the page draws: a watched kernel makes more calls than a person can read. */
const drawMs = 100;
/** Calls in one write. */
const atOnce = 50;

/**
 * Every call of this browser, of all tabs. A tab writes its own calls alone, so no two writers
 * meet. Any tab may delete an ended call, and informs the others. Calls that the store refuses stay in memory, and {@link SessionStore.fault} says why.
 */
export class SessionStore {
  readonly #ports: SessionPorts;
  readonly #heads = new Map<string, CallHead>();
  readonly #unsaved = new Map<string, CallChange>();
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  readonly #watched = new Set<string>();
  readonly #drawn = new Paced(() => this.#draw(), drawMs);
  #isWriteAsked = false;
  #opened: Promise<SessionDatabase> | undefined;
  #work: Promise<void>;
  #facts: Facts = { fault: undefined, unreadable: [], isLost: false, isLoaded: false };
  #state: SessionState = { heads: [], unsaved: 0, ...this.#facts };

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.#watched.add(ports.tab);
    ports.listen((foreign) => this.#enqueue(() => this.#hear(foreign)));
    this.#work = this.#attempt(() => this.#load());
  }

  /** The object changes when something of it does, at most once in each {@link drawMs}. */
  readonly state = (): SessionState => this.#state;

  /** Every earlier request has ended or failed, and {@link state} has it. */
  async settled(): Promise<void> {
    await this.#work;
    this.#drawn.flush();
  }

  /** As it is now, also where the page has not drawn it yet. */
  head(id: string): CallHead | undefined {
    return this.#heads.get(id);
  }

  save(change: CallChange): void {
    const { id } = change.head;
    this.#heads.set(id, change.head);
    this.#unsaved.set(id, merged(this.#unsaved.get(id), change));
    this.#publish();
    if (this.#isWriteAsked) return;
    this.#isWriteAsked = true;
    this.#enqueue(() => {
      this.#isWriteAsked = false;
      return this.#write();
    });
  }

  isSaved(id: string): boolean {
    return this.#heads.has(id) && !this.#unsaved.has(id);
  }

  /** @returns `undefined` where there is no such call */
  async read(id: string): Promise<ActiveRun | undefined> {
    await this.#work;
    const head = this.#heads.get(id);
    if (head === undefined) return undefined;
    const { body, pieces } = await (await this.#database()).call(id);
    const { readCall } = await reading();
    return readCall(head, body, pieces);
  }

  /** Calls that run stay. */
  remove(ids: readonly string[]): Promise<void> {
    const ended = ids.filter((id) => !isOpen(this.#heads.get(id)?.state ?? "completed"));
    this.#enqueue(async () => {
      await (await this.#database()).remove(ended);
      this.#forget(ended);
      this.#ports.tell({ type: "removed", ids: ended });
      await this.#write();
    });
    return this.settled();
  }

  /** Deletes the whole store, also calls that no version of the page can read. Unstored calls of this tab stay in memory. */
  removeAll(): Promise<void> {
    this.#enqueue(async () => {
      const opened = await this.#opened?.catch(() => undefined);
      opened?.close();
      this.#opened = undefined;
      await this.#ports.destroy();
      const gone = [...this.#heads.keys()].filter((id) => this.isSaved(id));
      this.#forget(gone);
      this.#publish({ unreadable: [] });
      this.#ports.tell({ type: "removed", ids: gone });
      await this.#write();
    });
    return this.settled();
  }

  #enqueue(task: () => Promise<void>): void {
    this.#work = this.#work.then(() => this.#attempt(task));
  }

  async #attempt(task: () => Promise<void>): Promise<void> {
    try {
      await task();
      if (this.#unsaved.size === 0) this.#publish({ fault: undefined });
    } catch (error) {
      this.#publish({ fault: faultOf(error) });
    }
  }

  async #load(): Promise<void> {
    try {
      await this.#readHeads();
    } finally {
      // Later calls are listed all the same.
      this.#publish({ isLoaded: true });
    }
  }

  async #readHeads(): Promise<void> {
    const stored = await (await this.#database()).heads();
    // A browser replaces a damaged database by an empty one, and says nothing.
    if (stored.length === 0) return this.#publish({ isLost: this.#ports.hasStored.read() });
    const { readHead } = await reading();
    const unreadable: string[] = [];
    for (const each of stored) {
      const head = readHead(each);
      if (head === undefined) unreadable.push(idOf(each));
      else if (!this.#heads.has(head.id)) this.#heads.set(head.id, head);
    }
    this.#publish({ unreadable });
    this.#watch();
  }

  /** Many calls at a time. Where that fails one at a time: an unstorable call keeps no other from it. */
  async #write(): Promise<void> {
    const ids = [...this.#unsaved.keys()];
    const saved: string[] = [];
    let fault: unknown;
    let isApart = false;
    for (let at = 0; at < ids.length; at += atOnce) {
      const some = ids.slice(at, at + atOnce);
      fault = (await this.#writeSome(some, saved)) ?? fault;
      // Many that wait for room are not each tried each time: the part that comes first moves to the end.
      if (fault === undefined || isApart || some.length === 1) continue;
      isApart = true;
      fault = undefined;
      for (const id of some) fault = (await this.#writeSome([id], saved)) ?? fault;
    }
    if (saved.length > 0) {
      this.#ports.hasStored.write(true);
      this.#ports.tell({ type: "changed", ids: saved });
    }
    this.#publish();
    if (fault !== undefined) throw toError(fault);
  }

  /** @returns the reason why nothing of it is stored; `undefined` where all is */
  async #writeSome(ids: readonly string[], saved: string[]): Promise<unknown> {
    const changes = ids.flatMap((id) => this.#unsaved.get(id) ?? []);
    for (const id of ids) this.#unsaved.delete(id);
    try {
      await (await this.#database()).write(changes);
      saved.push(...ids);
      return undefined;
    } catch (error) {
      for (const change of changes) {
        const { id } = change.head;
        this.#unsaved.set(id, merged(change, this.#unsaved.get(id)));
      }
      return error;
    }
  }

  /** Another tab may run another version of the page. */
  async #hear(foreign: unknown): Promise<void> {
    if (typeof foreign !== "object" || foreign === null || !("ids" in foreign) || !Array.isArray(foreign.ids)) return;
    const ids = foreign.ids.filter((id) => typeof id === "string");
    if ("type" in foreign && foreign.type === "removed") return this.#forget(ids);
    const database = await this.#database();
    const { readHead } = await reading();
    for (const id of ids) {
      const head = readHead(await database.head(id));
      if (head !== undefined && head.tab !== this.#ports.tab) this.#heads.set(id, head);
    }
    this.#publish();
    this.#watch();
  }

  #forget(ids: readonly string[]): void {
    for (const id of ids) {
      this.#heads.delete(id);
      this.#unsaved.delete(id);
    }
    if (this.#heads.size === 0) this.#ports.hasStored.write(false);
    this.#publish({ unreadable: this.#facts.unreadable.filter((id) => !ids.includes(id)) });
  }

  /** A call of a closed tab has no end: no tab writes it. */
  #watch(): void {
    for (const { tab, state } of this.#heads.values())
      if (isOpen(state) && !this.#watched.has(tab)) {
        this.#watched.add(tab);
        void this.#ports.whenGone(tab).then(() => this.#enqueue(() => this.#leave(tab)));
      }
  }

  async #leave(tab: string): Promise<void> {
    const database = await this.#database();
    const { readHead } = await reading();
    for (const { id, ...known } of this.#heads.values()) {
      if (known.tab !== tab || !isOpen(known.state)) continue;
      // The tab may have written the end as its last act.
      const head = readHead(await database.head(id));
      if (head === undefined) continue;
      this.#heads.set(id, head);
      if (isOpen(head.state)) this.save({ head: { ...head, state: "left" }, pieces: [] });
    }
    this.#publish();
  }

  #database(): Promise<SessionDatabase> {
    const opened = (this.#opened ??= this.#ports.open(() => (this.#opened = undefined)));
    opened.catch(() => {
      // The next use tries again.
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }

  #publish(change: Partial<Facts> = {}): void {
    this.#facts = { ...this.#facts, ...change };
    this.#drawn.ask();
  }

  #draw(): void {
    const heads = [...this.#heads.values()].sort((a, b) => b.startedAt - a.startedAt);
    this.#state = { heads, unsaved: this.#unsaved.size, ...this.#facts };
    this.#listeners.tell();
  }
}

/** @param newer wins */
function merged(older: CallChange | undefined, newer: CallChange | undefined): CallChange {
  if (older === undefined || newer === undefined) return (older ?? newer)!;
  const body = newer.body ?? older.body;
  return { head: newer.head, ...(body !== undefined && { body }), pieces: [...older.pieces, ...newer.pieces] };
}

function faultOf(error: unknown): SessionFault {
  const isFull = error instanceof DOMException && error.name === "QuotaExceededError";
  return { kind: isFull ? "full" : "refused", reason: error instanceof Error ? error.message : String(error) };
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function idOf(stored: unknown): string {
  return typeof stored === "object" && stored !== null && "id" in stored ? String(stored.id) : "";
}
