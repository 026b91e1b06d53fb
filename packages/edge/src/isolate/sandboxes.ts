import type { LoadedCode } from "@keyhole/worker-host/protocol";
import type { CallProgress, IsolateLoader, LoadedTool, LoaderAnswer } from "./loader.ts";
import type { Packet } from "./packet.ts";
import { Place, Rack, Standstill } from "./sandbox-place.ts";
import type { Kind, Load } from "./sandbox-use.ts";
import { Suspicions } from "./suspicions.ts";

/** Kinds that left a sandbox while they were loaded; a program of a call is a kind too. */
const maxLeft = 100;

const kindOf = (code: LoadedCode): Kind => (typeof code === "string" ? code : code.module);

const rackOfProcess = new Rack(false);

const notBegun: CallProgress = { begunAt: undefined, heard: false };
/** A module that left a sandbox while it was loaded: it stays in the next one. */
const begunLast: CallProgress = { begunAt: Infinity, heard: true };

/**
 * Several sandboxes as one. workerd cannot interrupt a tool that computes, and its whole process stands still meanwhile. Then all of which nothing was heard goes on in another
 * sandbox, and only the tool that computes waits for its end. A call that began there earlier moves once: a tool that waits before it computes holds up two sandboxes the first
 * time, and one from then on. The tools of one kernel hold up all but one.
 *
 * @throws TypeError where there is none
 */
export function severalSandboxes(
  loaders: readonly IsolateLoader[],
  { rack = rackOfProcess, onHeldUp = () => {} }: SandboxesOptions = {},
): IsolateLoader {
  if (loaders.length === 0) throw new TypeError("There is no sandbox.");
  return new Sandboxes(loaders, rack, onHeldUp);
}

interface SandboxesOptions {
  /** Shared by all kernels that use these sandboxes. Default: one per process. */
  readonly rack?: Rack;
  /**
   * Told, again and again, of a sandbox that a call left because it stood still, while the same call holds up a second one: the code in the first has no call any more, and
   * nothing but an end of the process ends it. The calls beside it would wait for the deadline of that one.
   */
  readonly onHeldUp?: (sandbox: number) => void;
}

interface Home {
  readonly place: Place;
  readonly kind: Kind;
  readonly load: Load;
}

class Sandboxes implements IsolateLoader {
  readonly #places: readonly Place[];
  /** Where an isolate was loaded last. */
  readonly #homes = new Map<string, Home>();
  readonly #watchers = new Map<string, (isAlone: boolean) => void>();
  /** Kinds of guests that left a sandbox while their module was loading: a guest that leaves again and again would hold up all. */
  readonly #leftLoading = new Set<Kind>();
  readonly #suspicions = new Suspicions();
  readonly #onHeldUp: (sandbox: number) => void;
  readonly announces: boolean;

  constructor(loaders: readonly IsolateLoader[], rack: Rack, onHeldUp: (sandbox: number) => void) {
    this.#onHeldUp = onHeldUp;
    const events = {
      onStill: (place: Place): void => this.#avoid(place),
      onIdleStill: (place: Place): void => this.#tell(place),
      isWatched: (place: Place): boolean =>
        [...this.#watchers.keys()].some((id) => this.#homes.get(id)?.place === place),
    };
    this.#places = loaders.map(
      (loader, at) => new Place({ loader, use: rack.useOf(at), ofAllKernels: rack.at(at), ...events }),
    );
    this.announces = loaders.every(({ announces }) => announces === true);
  }

  async load(id: string, tool: LoadedTool): Promise<unknown> {
    const kind = kindOf(tool.code);
    const room = this.#leftLoading.has(kind) ? await this.#roomFor(kind) : undefined;
    try {
      return await this.#loadIn(room?.place ?? (await this.#placeFor(kind)), id, tool);
    } finally {
      room?.leave();
    }
  }

  async #loadIn(place: Place, id: string, tool: LoadedTool): Promise<unknown> {
    const kind = kindOf(tool.code);
    const before = this.#homes.get(id)?.place;
    // It may not hear it for a while.
    if (before && before !== place) {
      before.use.close(id);
      void before.loader.close(id).catch(() => {});
    }
    const load = place.use.open(id, kind);
    this.#homes.set(id, { place, kind, load });
    if (this.#watchers.has(id)) place.watch();
    const hasLeft = this.#leftLoading.has(kind);
    const asked = { kind, progress: hasLeft ? begunLast : notBegun, strikes: () => Number(hasLeft) };
    try {
      const answer = await place.wait({ ...asked, isBegun: () => true }, () => place.loader.load(id, tool));
      this.#leftLoading.delete(kind);
      return answer;
    } catch (error) {
      if (error instanceof Standstill) {
        this.#leftLoading.add(kind);
        const [oldest] = this.#leftLoading;
        if (this.#leftLoading.size > maxLeft && oldest !== undefined) this.#leftLoading.delete(oldest);
      }
      throw error;
    } finally {
      place.use.loaded(load);
    }
  }

  async call(id: string, call: Packet, target: object, progress: CallProgress): Promise<LoaderAnswer> {
    const home = this.#homes.get(id);
    if (!home) return { kind: "absent" };
    const { place, kind } = home;
    if (place.state === "still" && !place.suspects(kind) && this.#isElsewhere) throw new Standstill();
    const isBegun = (): boolean => !this.announces || progress.begunAt !== undefined || progress.heard;
    const asked = { kind, progress, strikes: () => this.#suspicions.strikes(kind), isBegun };
    const answer = await place.wait(asked, () => place.loader.call(id, call, target, progress));
    this.#suspicions.clear(kind);
    return answer;
  }

  watch(id: string, onStill: (isAlone: boolean) => void): void {
    const home = this.#homes.get(id);
    // Without an announcement, a tool that waits for its turn looks like a spinning one.
    if (!home || !this.announces) return;
    this.#watchers.set(id, onStill);
    home.place.watch();
  }

  async close(id: string): Promise<void> {
    const home = this.#homes.get(id);
    this.#homes.delete(id);
    this.#watchers.delete(id);
    home?.place.use.close(id);
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

  suspects(id: string): boolean {
    const home = this.#homes.get(id);
    return home?.place.suspects(home.kind) === true;
  }

  holdsUp(id: string): boolean {
    const home = this.#homes.get(id);
    return home?.place.state === "still" && home.load.isAlone;
  }

  /** Whether there is a sandbox to continue in. */
  get #isElsewhere(): boolean {
    return this.#mayMove && this.#places.some(({ state }) => state === "answers");
  }

  /** The last one is left to other kernels, where there are enough. */
  get #mayMove(): boolean {
    const heldUp = this.#places.filter(({ isHeldUp }) => isHeldUp).length;
    return heldUp < Math.max(2, this.#places.length - 1);
  }

  /**
   * The first that answers; for a kind that seems to have held one up, the last: it holds up no others there. Asks first, because nobody tells whether a module that is being loaded
   * has begun.
   */
  async #placeFor(kind: Kind): Promise<Place> {
    const own = this.#places.find((place) => place.suspects(kind));
    if (own) return own;
    const order = this.#suspicions.isLikely(kind) ? this.#places.toReversed() : this.#places;
    for (const place of order) {
      const mayTry = place === order[0] || this.#mayMove;
      if (mayTry && (await place.isFree(kind)) && (await place.answers())) return place;
    }
    return order[0]!;
  }

  /**
   * For a module that left a sandbox while it loaded: one without another tool, where there is one, because then it is known why that stands still. No other load begins there: of several
   * modules that left together, only the one that spins waits.
   */
  async #roomFor(kind: Kind): Promise<{ readonly place: Place; readonly leave: () => void } | undefined> {
    if (this.#places.some((place) => place.suspects(kind))) return undefined;
    const isOwn = (place: Place): boolean => place.use.isOnly(kind);
    for (let isBusy = true; isBusy && this.#mayMove;) {
      isBusy = false;
      const order = [...this.#places.toReversed().filter(isOwn), ...this.#places.filter((place) => !isOwn(place))];
      for (const place of order) {
        const leave = (await place.isFree(kind)) ? place.use.keep(kind) : undefined;
        const answers = await place.answers();
        if (leave && answers) return { place, leave };
        leave?.();
        isBusy ||= answers;
      }
    }
    return undefined;
  }

  #tell(place: Place): void {
    for (const [id, onStill] of this.#watchers) {
      const home = this.#homes.get(id);
      if (home?.place === place) onStill(place.use.isOnly(home.kind));
    }
  }

  #avoid(place: Place): void {
    for (const each of this.#places) if (each.state === "gone") void each.answers();
    const suspected = place.suspected();
    if (suspected !== undefined) {
      const left = this.#suspicions.left(suspected);
      if (left !== undefined && left !== place && left.state === "still") this.#onHeldUp(this.#places.indexOf(left));
      this.#suspicions.suspect(suspected, place, "stays");
    }
    if (this.#isElsewhere) for (const kind of place.empty()) this.#suspicions.suspect(kind, place, "left");
  }
}
