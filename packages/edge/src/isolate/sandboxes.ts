import type { IsolateCall } from "@keyhole/kernel";
import type { LoadedCode } from "@keyhole/worker-host/protocol";
import type { CallProgress, IsolateLoader, LoadedTool, LoaderAnswer } from "./loader.ts";

/** How often a sandbox that owes an answer, and has given none since, is asked whether it is there. */
const lookEveryMs = 250;
/** A sandbox answers within some milliseconds, unless a tool computes in it. */
const patienceMs = 250;
/** Kinds that left a sandbox while they were loaded, or while they ran; a program of a call is a kind too. */
const maxLeft = 100;

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
  readonly progress: CallProgress;
  readonly leave: () => void;
}

/**
 * What all kernels of this process wait for, by sandbox. A tool that computes lets no other begin after it: where a sandbox stands still, the call that began there last is
 * the one to suspect, and only all kernels together know which that is.
 */
export class Rack {
  readonly #waiting: Set<Waiting>[] = [];

  at(place: number): Set<Waiting> {
    return (this.#waiting[place] ??= new Set());
  }
}

const rackOfProcess = new Rack();

const notBegun: CallProgress = { begunAt: undefined, heard: false };
/** A module that left a sandbox while it was loaded: it stays in the next one, and is suspected there. */
const begunLast: CallProgress = { begunAt: Infinity, heard: true };

/** `still`: it has not answered in time, and may yet. `gone`: there is no way to it, until it is started again. */
type State = "answers" | "still" | "gone";

interface PlaceParts {
  readonly loader: IsolateLoader;
  readonly ofAllKernels: Set<Waiting>;
  /** Kinds that left a sandbox while they ran, and have not answered since. */
  readonly left: ReadonlySet<Kind>;
  readonly onStill: (place: Place) => void;
}

/** One sandbox, as a kernel sees it. */
class Place {
  readonly loader: IsolateLoader;
  readonly #waiting = new Set<Waiting>();
  readonly #ofAllKernels: Set<Waiting>;
  readonly #left: ReadonlySet<Kind>;
  readonly #onStill: (place: Place) => void;
  #heardAtMs = -Infinity;
  #timer: ReturnType<typeof setInterval> | undefined;
  #state: State = "answers";

  constructor({ loader, ofAllKernels, left, onStill }: PlaceParts) {
    this.loader = loader;
    this.#ofAllKernels = ofAllKernels;
    this.#left = left;
    this.#onStill = onStill;
  }

  /** As far as it is known. */
  get state(): State {
    return this.#state;
  }

  /** Whether a call of this kernel runs there while it stands still. */
  get isHeldUp(): boolean {
    return this.#state === "still" && [...this.#waiting].some(({ progress }) => progress.begunAt !== undefined);
  }

  /** Whether a tool of this kind may be what holds it up: it began there last, or ran in another one that stood still. */
  suspects(kind: Kind): boolean {
    if (this.#state !== "still") return false;
    let last = 0;
    for (const { progress } of this.#ofAllKernels) last = Math.max(last, progress.begunAt ?? 0);
    return [...this.#waiting].some((each) => {
      const { begunAt } = each.progress;
      return each.kind === kind && begunAt !== undefined && (begunAt === last || this.#left.has(kind));
    });
  }

  /** Rejects with a {@link Standstill} where it is let go. */
  async wait<Answer>(kind: Kind, progress: CallProgress, ask: () => Promise<Answer>): Promise<Answer> {
    const left = Promise.withResolvers<never>();
    const waiting: Waiting = { kind, progress, leave: () => left.reject(new Standstill()) };
    this.#waiting.add(waiting);
    this.#ofAllKernels.add(waiting);
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
      this.#ofAllKernels.delete(waiting);
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

  /** Lets go of all of which nothing was heard; a kind that may be what holds it up stays together. Gives the kinds of calls that had begun. */
  empty(): Kind[] {
    const leaving = [...this.#waiting].filter(({ kind, progress }) => !progress.heard && !this.suspects(kind));
    for (const { leave } of leaving) leave();
    return leaving.filter(({ progress }) => progress.begunAt !== undefined).map(({ kind }) => kind);
  }

  async #look(): Promise<void> {
    // All that waits in one that has gone is rejected without us.
    if (!(await this.answers()) && this.#state === "still") this.#onStill(this);
  }
}

/**
 * Several sandboxes as one. workerd cannot interrupt a tool that computes, and its whole process stands still meanwhile. Then all of which nothing was heard goes on in another
 * sandbox, and only the tool that computes waits for its end. A call that began there earlier moves once: a tool that waits before it computes holds up two sandboxes the first
 * time, and one from then on. The tools of one kernel hold up all but one.
 *
 * @param rack shared by all kernels that use these sandboxes. Default: one per process
 * @throws TypeError where there is none
 */
export function severalSandboxes(loaders: readonly IsolateLoader[], rack: Rack = rackOfProcess): IsolateLoader {
  if (loaders.length === 0) throw new TypeError("There is no sandbox.");
  return new Sandboxes(loaders, rack);
}

class Sandboxes implements IsolateLoader {
  readonly #places: readonly Place[];
  /** Where an isolate was loaded, and of which kind it is. */
  readonly #homes = new Map<string, { readonly place: Place; readonly kind: Kind }>();
  /** What left a sandbox while its module was being loaded: one that leaves again and again would hold up all. */
  readonly #leftLoading = new Set<Kind>();
  readonly #leftRunning = new Set<Kind>();
  #current: Place;
  readonly announces: boolean;

  constructor(loaders: readonly IsolateLoader[], rack: Rack) {
    const left = this.#leftRunning;
    const onStill = (place: Place): void => this.#avoid(place);
    this.#places = loaders.map((loader, at) => new Place({ loader, ofAllKernels: rack.at(at), left, onStill }));
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
    const progress = this.#leftLoading.has(kind) ? begunLast : notBegun;
    try {
      const answer = await place.wait(kind, progress, () => place.loader.load(id, tool));
      this.#leftLoading.delete(kind);
      return answer;
    } catch (error) {
      if (error instanceof Standstill) remember(this.#leftLoading, kind);
      throw error;
    }
  }

  async call(id: string, call: IsolateCall, target: object, progress: CallProgress): Promise<LoaderAnswer> {
    const home = this.#homes.get(id);
    if (!home) return { kind: "absent" };
    const { place, kind } = home;
    if (place.state === "still" && !place.suspects(kind) && this.#isElsewhere) throw new Standstill();
    const answer = await place.wait(kind, progress, () => place.loader.call(id, call, target, progress));
    this.#leftRunning.delete(kind);
    return answer;
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
    const heldUp = this.#places.filter(({ isHeldUp }) => isHeldUp).length;
    return heldUp < Math.max(2, this.#places.length - 1);
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
    if (this.#isElsewhere) for (const kind of place.empty()) remember(this.#leftRunning, kind);
  }
}

function remember(kinds: Set<Kind>, kind: Kind): void {
  kinds.add(kind);
  const [oldest] = kinds;
  if (kinds.size > maxLeft && oldest !== undefined) kinds.delete(oldest);
}

/** Whether it resolves in time. */
async function isWithin(timeoutMs: number, answer: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), timeoutMs);
  const isAnswered = await Promise.race([answer.then(() => true), late.promise]);
  clearTimeout(timer);
  return isAnswered;
}
