import type { IsolateCall } from "@keyhole/kernel";
import type { LoadedCode } from "@keyhole/worker-host/protocol";
import type { IsolateLoader, LoadedTool, LoaderAnswer } from "./loader.ts";

/** How often a sandbox that owes an answer, and has given none since, is asked whether it is there. */
const lookEveryMs = 250;
/** A sandbox answers within some milliseconds, unless a tool computes in it. */
const patienceMs = 250;
/** Kinds whose module stood still while it was loaded; a program of a call is a kind too. */
const maxLeftLoading = 100;

/** Rejects what can be done again elsewhere, because its sandbox stands still. */
export class Standstill extends Error {
  constructor() {
    super("The sandbox stands still.");
    this.name = "Standstill";
  }
}

/** Tools of the same code: a program of a call has no other name. */
type Kind = string | object;

const kindOf = (code: LoadedCode): Kind => (typeof code === "string" ? code : code.module);

/** A load or a call that waits for its answer. */
interface Waiting {
  readonly kind: Kind;
  /** Whether nothing of it runs, as far as anybody knows: then it may be done again. */
  readonly canLeave: () => boolean;
  readonly leave: () => void;
}

/** `still`: it has not answered in time, and may yet. `gone`: there is no way to it, until it is started again. */
type State = "answers" | "still" | "gone";

/** One sandbox, as a kernel sees it. */
class Place {
  readonly loader: IsolateLoader;
  readonly #waiting = new Set<Waiting>();
  readonly #onStill: (place: Place) => void;
  #heardAtMs = -Infinity;
  #timer: ReturnType<typeof setInterval> | undefined;
  #state: State = "answers";

  constructor(loader: IsolateLoader, onStill: (place: Place) => void) {
    this.loader = loader;
    this.#onStill = onStill;
  }

  /** As far as it is known. */
  get state(): State {
    return this.#state;
  }

  /** Whether something of this kernel may be what holds it up: of this kind, or of any. */
  suspects(kind?: Kind): boolean {
    if (this.#state !== "still") return false;
    return [...this.#waiting].some((each) => (kind === undefined || each.kind === kind) && !each.canLeave());
  }

  /** Rejects with a {@link Standstill} where it is let go. */
  async wait<Answer>(kind: Kind, canLeave: () => boolean, ask: () => Promise<Answer>): Promise<Answer> {
    const left = Promise.withResolvers<never>();
    const waiting: Waiting = { kind, canLeave, leave: () => left.reject(new Standstill()) };
    this.#waiting.add(waiting);
    this.#timer ??= setInterval(() => void this.#look(), lookEveryMs);
    const answer = ask().then(
      (value) => {
        this.#heardAtMs = performance.now();
        return value;
      },
      (error: unknown) => {
        // It may have ended: the next one asks first.
        this.#heardAtMs = -Infinity;
        throw error;
      },
    );
    try {
      return await Promise.race([answer, left.promise]);
    } finally {
      this.#waiting.delete(waiting);
      if (this.#waiting.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  /** Whether it answers now, or has a moment ago. */
  async answers(): Promise<boolean> {
    if (this.#state === "still") return false;
    if (this.#state === "answers" && performance.now() - this.#heardAtMs < lookEveryMs) return true;
    const pong = this.loader.ping().then(
      () => {
        this.#heardAtMs = performance.now();
        this.#state = "answers";
      },
      () => void (this.#state = "gone"),
    );
    if (!(await isWithin(patienceMs, pong))) this.#state = "still";
    return this.#state === "answers";
  }

  /** Lets go of all that can be done again; a kind that may be what holds it up stays together. */
  empty(): void {
    for (const { kind, canLeave, leave } of this.#waiting) if (canLeave() && !this.suspects(kind)) leave();
  }

  async #look(): Promise<void> {
    // All that waits in one that has gone is rejected without us.
    if (!(await this.answers()) && this.#state === "still") this.#onStill(this);
  }
}

/**
 * Several sandboxes as one. workerd cannot interrupt a tool that computes, and its whole process stands still meanwhile. Then all that has not begun there goes on in another
 * sandbox, and only the tool that computes waits for its end. A kind of tool holds up one sandbox at a time, however often it is called, and the tools of one kernel all but one.
 *
 * @throws TypeError where there is none
 */
export function severalSandboxes(loaders: readonly IsolateLoader[]): IsolateLoader {
  if (loaders.length === 0) throw new TypeError("There is no sandbox.");
  return new Sandboxes(loaders);
}

class Sandboxes implements IsolateLoader {
  readonly #places: readonly Place[];
  /** Where an isolate was loaded, and of which kind it is. */
  readonly #homes = new Map<string, { readonly place: Place; readonly kind: Kind }>();
  /** What left a sandbox while its module was being loaded: one that leaves again and again would hold up all. */
  readonly #leftLoading = new Set<Kind>();
  #current: Place;
  readonly announces: boolean;

  constructor(loaders: readonly IsolateLoader[]) {
    this.#places = loaders.map((loader) => new Place(loader, (place) => this.#avoid(place)));
    this.#current = this.#places[0]!;
    this.announces = loaders.every(({ announces }) => announces === true);
  }

  async load(id: string, tool: LoadedTool): Promise<unknown> {
    const kind = kindOf(tool.code);
    const place = await this.#placeFor(kind);
    const before = this.#homes.get(id)?.place;
    // It may not hear it for a while.
    if (before && before !== place) void before.loader.close(id).catch(() => {});
    this.#homes.set(id, { place, kind });
    const isAgain = this.#leftLoading.has(kind);
    try {
      const answer = await place.wait(
        kind,
        () => !isAgain,
        () => place.loader.load(id, tool),
      );
      this.#leftLoading.delete(kind);
      return answer;
    } catch (error) {
      if (error instanceof Standstill) this.#leavesLoading(kind);
      throw error;
    }
  }

  async call(id: string, call: IsolateCall, target: object, canLeave = (): boolean => false): Promise<LoaderAnswer> {
    const home = this.#homes.get(id);
    if (!home) return { kind: "absent" };
    const { place, kind } = home;
    if (place.state === "still" && !place.suspects(kind) && this.#isElsewhere) throw new Standstill();
    return place.wait(kind, canLeave, () => place.loader.call(id, call, target));
  }

  async close(id: string): Promise<void> {
    const home = this.#homes.get(id);
    this.#homes.delete(id);
    await home?.place.loader.close(id);
  }

  async holds(id: string): Promise<boolean> {
    return (await this.#homes.get(id)?.place.loader.holds(id)) ?? false;
  }

  async ping(): Promise<void> {
    await Promise.any(this.#places.map(({ loader }) => loader.ping()));
  }

  placeOf(id: string): number {
    const home = this.#homes.get(id);
    return home ? this.#places.indexOf(home.place) : 0;
  }

  /** Whether there is a sandbox to go on in. */
  get #isElsewhere(): boolean {
    return this.#mayMove && this.#places.some(({ state }) => state === "answers");
  }

  /** The last one is left to other kernels, where there are enough. */
  get #mayMove(): boolean {
    const heldUp = this.#places.filter((place) => place.suspects()).length;
    return heldUp < Math.max(2, this.#places.length - 1);
  }

  #leavesLoading(kind: Kind): void {
    this.#leftLoading.add(kind);
    const [oldest] = this.#leftLoading;
    if (this.#leftLoading.size > maxLeftLoading && oldest !== undefined) this.#leftLoading.delete(oldest);
  }

  /** Asks first: whether a module that is being loaded has begun, nobody tells. */
  async #placeFor(kind: Kind): Promise<Place> {
    const own = this.#places.find((place) => place.suspects(kind));
    if (own) return own;
    const from = this.#places.indexOf(this.#current);
    for (const place of [...this.#places.slice(from), ...this.#places.slice(0, from)])
      if ((place === this.#current || this.#mayMove) && (await place.answers())) return (this.#current = place);
    return this.#current;
  }

  #avoid(place: Place): void {
    for (const each of this.#places) if (each.state === "gone") void each.answers();
    if (this.#isElsewhere) place.empty();
  }
}

/** Whether it resolves in time. */
async function isWithin(timeoutMs: number, answer: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), timeoutMs);
  const isAnswered = await Promise.race([answer.then(() => true), late.promise]);
  clearTimeout(timer);
  return isAnswered;
}
