/** How long an isolate that was closed may still be what holds its sandbox up. workerd stops all work for half of it after an answer. */
const closedForMs = 60_000;

/** Tools of the same code: a program of a call has no other name. */
export type Kind = string | object;

/** A load that was sent to a sandbox. */
export interface Load {
  readonly kind: Kind;
  /** Whether it has no answer yet, and no code of another tool can have run there since before it was sent. */
  readonly isAlone: boolean;
}

interface Kept {
  readonly kind: Kind;
  readonly end: Promise<void>;
}

interface Guest {
  readonly kind: Kind;
  /** `Infinity` while it is open. */
  closedAtMs: number;
}

/** The use of one sandbox: its isolates and their calls. Of all kernels of this process together, because one tenant's tool can hold up what another tenant's waits for. */
export class SandboxUse {
  readonly #running = new Set<() => boolean>();
  readonly #guests = new Map<string, Guest>();
  /** Without an answer. */
  readonly #loads = new Set<{ kind: Kind; isAlone: boolean }>();
  /** Of loads beside which no other begins. */
  readonly #kept = new Map<object, Kept>();
  /** When it answered anything last, to any kernel: code that computes without end lets nothing else answer. */
  heardAtMs: number = -Infinity;

  /** @param sinceMs since when all that is loaded there is noted here. Default: always */
  constructor(sinceMs?: number) {
    // Tools that another process has loaded may still run.
    if (sinceMs !== undefined) this.#guests.set("before", { kind: {}, closedAtMs: sinceMs });
  }

  /**
   * Notes a load or a call.
   *
   * @param isBegun whether code of a tool may run for it
   * @returns to be called when it was answered
   */
  run(isBegun: () => boolean): () => void {
    this.#running.add(isBegun);
    return () => void this.#running.delete(isBegun);
  }

  /** Whether something may run there that has a deadline of its own. */
  get isRunning(): boolean {
    return [...this.#running].some((isBegun) => isBegun());
  }

  /** Notes an isolate before its load is sent. */
  open(id: string, kind: Kind): Load {
    const load = { kind, isAlone: this.isOnly(kind) };
    for (const other of this.#loads) if (other.kind !== kind) other.isAlone = false;
    this.#loads.add(load);
    this.#guests.set(id, { kind, closedAtMs: Infinity });
    return load;
  }

  /** It was answered, or is given up: later loads are no matter of it. */
  loaded(load: Load): void {
    const open = [...this.#loads].find((each) => each === load);
    if (!open) return;
    open.isAlone = false;
    this.#loads.delete(open);
  }

  /** Keeps the loads of other tools away until the returned function is called; `undefined` where another tool does that. */
  keep(kind: Kind): (() => void) | undefined {
    if (this.keptFrom(kind)) return undefined;
    const key = {};
    const { promise: end, resolve } = Promise.withResolvers<void>();
    this.#kept.set(key, { kind, end });
    return () => {
      this.#kept.delete(key);
      resolve();
    };
  }

  /** The end of the time for which it is kept for another tool. */
  keptFrom(kind: Kind): Promise<void> | undefined {
    return [...this.#kept.values()].find((each) => each.kind !== kind)?.end;
  }

  close(id: string): void {
    const guest = this.#guests.get(id);
    if (guest) guest.closedAtMs = performance.now();
  }

  /** It has answered what was sent then: what was closed long before has come to rest. */
  heard(sentAtMs: number): void {
    this.heardAtMs = performance.now();
    const beforeMs = sentAtMs - closedForMs;
    for (const [id, { closedAtMs }] of this.#guests) if (closedAtMs <= beforeMs) this.#guests.delete(id);
  }

  /** Whether no other tool can be what goes on there: it is alone, and was for a while. */
  isOnly(kind: Kind): boolean {
    return [...this.#guests.values()].every((guest) => guest.kind === kind);
  }
}
