import { IdleWatch } from "@keyhole/worker-host/protocol";
import type { CallProgress, IsolateLoader } from "./loader.ts";
import { type Kind, SandboxUse } from "./sandbox-use.ts";

/** How often a sandbox that owes an answer, and has given none since, is asked whether it is there. */
const lookEveryMs = 250;
/** A sandbox answers within some milliseconds, unless a tool computes in it. */
const patienceMs = 250;

/** Rejects what can be done again elsewhere, because its sandbox stands still. */
export class Standstill extends Error {
  constructor() {
    super("The sandbox stands still.");
    this.name = "Standstill";
  }
}

/** A load or a call that waits for its answer. */
interface Waiting {
  readonly kind: Kind;
  readonly progress: CallProgress;
  /** Standstills at which its kind may have been the cause, since it answered last. */
  readonly strikes: () => number;
  readonly leave: () => void;
}

/**
 * The loads and calls of all kernels of this process that wait, by sandbox. A tool that computes lets no other begin after it: where a sandbox stands still, the call that began there last is
 * the one to suspect, and only all kernels together know which that is.
 */
export class Rack {
  readonly #waiting: Set<Waiting>[] = [];
  readonly #uses: SandboxUse[] = [];
  readonly #isFirst: boolean;

  /** @param isFirst whether no other process has used these sandboxes */
  constructor(isFirst = true) {
    this.#isFirst = isFirst;
  }

  useOf(place: number): SandboxUse {
    return (this.#uses[place] ??= new SandboxUse(this.#isFirst ? undefined : performance.now()));
  }

  at(place: number): Set<Waiting> {
    return (this.#waiting[place] ??= new Set());
  }
}

/** `still`: it has not answered in time, and may yet. `gone`: there is no way to it, until it is started again. */
type State = "answers" | "still" | "gone";

type Asked = Omit<Waiting, "leave"> & { readonly isBegun: () => boolean };

interface PlaceParts {
  readonly loader: IsolateLoader;
  readonly use: SandboxUse;
  readonly ofAllKernels: Set<Waiting>;
  /** Something waits there, and it does not answer. */
  readonly onStill: (place: Place) => void;
  /** It has not answered for long, and nothing runs there that has a deadline. */
  readonly onIdleStill: (place: Place) => void;
  /** Whether this kernel has an isolate there that wants to know. */
  readonly isWatched: (place: Place) => boolean;
}

/** One sandbox, as a kernel sees it. */
export class Place {
  readonly loader: IsolateLoader;
  readonly use: SandboxUse;
  readonly #waiting = new Set<Waiting>();
  readonly #ofAllKernels: Set<Waiting>;
  readonly #onStill: (place: Place) => void;
  readonly #idle: IdleWatch;
  #isAsked = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #state: State = "answers";
  #standstills = 0;

  constructor({ loader, use, ofAllKernels, onStill, onIdleStill, isWatched }: PlaceParts) {
    this.loader = loader;
    this.use = use;
    this.#ofAllKernels = ofAllKernels;
    this.#onStill = onStill;
    this.#idle = new IdleWatch({
      isIdle: () => {
        // A running call has a deadline. The watch begins anew after its end.
        if (use.isRunning) this.#idle.heard();
        return isWatched(this);
      },
      ask: () => void this.#askIdle(),
      onSilent: () => {
        this.#idle.heard();
        onIdleStill(this);
      },
    });
  }

  /** Watches whether it answers, also while nothing waits for it. */
  watch(): void {
    this.#idle.begin();
  }

  async #askIdle(): Promise<void> {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const sentAtMs = performance.now();
    try {
      await this.loader.ping();
      this.use.heard(sentAtMs);
    } catch {
      // It has ended, and with it what may have gone on there.
    }
    this.#isAsked = false;
    this.#idle.heard();
  }

  /** As far as the kernel knows it. */
  get state(): State {
    return this.#state;
  }

  /** Whether a call of this kernel runs there while it stands still. */
  get isHeldUp(): boolean {
    return this.#state === "still" && [...this.#waiting].some(({ progress }) => progress.begunAt !== undefined);
  }

  /** Whether a tool of this kind may be what holds it up. */
  suspects(kind: Kind): boolean {
    return this.suspected() === kind;
  }

  /**
   * The kind that may be what holds it up, where it is one of this kernel: with the most standstills before, and among those the one that began last. A call that was announced
   * just after one that computes began last too, and would wait for the deadline of the other.
   */
  suspected(): Kind | undefined {
    if (this.#state !== "still") return undefined;
    let [most, last, suspected]: [number, number, Waiting | undefined] = [0, 0, undefined];
    for (const each of this.#ofAllKernels) {
      const [strikes, begunAt] = [each.strikes(), each.progress.begunAt ?? 0];
      if (begunAt === 0 || strikes < most || (strikes === most && begunAt < last)) continue;
      [most, last, suspected] = [strikes, begunAt, each];
    }
    return suspected && this.#waiting.has(suspected) ? suspected.kind : undefined;
  }

  /** How often it began to stand still. */
  get standstills(): number {
    return this.#standstills;
  }

  /**
   * Rejects with a {@link Standstill} at its release.
   *
   * @param isBegun whether code of the tool may run for it
   */
  async wait<Answer>({ kind, progress, strikes, isBegun }: Asked, ask: () => Promise<Answer>): Promise<Answer> {
    const left = Promise.withResolvers<never>();
    const waiting: Waiting = { kind, progress, strikes, leave: () => left.reject(new Standstill()) };
    this.#waiting.add(waiting);
    this.#ofAllKernels.add(waiting);
    this.#timer ??= setInterval(() => void this.#look(), lookEveryMs);
    const onAnswer = this.use.run(isBegun);
    const sentAtMs = performance.now();
    const answer = ask().then(
      (value) => {
        onAnswer();
        this.use.heard(sentAtMs);
        return value;
      },
      (error: unknown) => {
        onAnswer();
        // It may have ended: the next one asks first.
        this.use.heardAtMs = -Infinity;
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
    if (this.#state === "answers" && performance.now() - this.use.heardAtMs < lookEveryMs) return true;
    const sentAtMs = performance.now();
    const pong = this.loader.ping().then(
      () => {
        this.use.heard(sentAtMs);
        this.#state = "answers";
      },
      () => void (this.#state = "gone"),
    );
    // A busy machine answers late, and does answer: only silence is a standstill.
    if (!(await isWithin(patienceMs, pong)) && this.use.heardAtMs <= sentAtMs) this.#stand();
    return this.#state === "answers";
  }

  /** Waits a moment, where another tool has it to itself. Whether it may be had now. */
  async isFree(kind: Kind): Promise<boolean> {
    const end = this.use.keptFrom(kind);
    return !end || (this.#state === "answers" && (await isWithin(patienceMs, end)) && !this.use.keptFrom(kind));
  }

  /** Two looks at the same time see one standstill of the sandbox. */
  #stand(): void {
    if (this.#state !== "still") this.#standstills++;
    this.#state = "still";
  }

  /** Lets go of all of which nothing was heard; a kind that may be what holds it up stays together. Gives the kinds of calls that had begun. */
  empty(): Kind[] {
    const suspected = this.suspected();
    const leaving = [...this.#waiting].filter(({ kind, progress }) => !progress.heard && kind !== suspected);
    for (const { leave } of leaving) leave();
    return leaving.filter(({ progress }) => progress.begunAt !== undefined).map(({ kind }) => kind);
  }

  async #look(): Promise<void> {
    // The platform rejects all that waits in one that has gone.
    if (!(await this.answers()) && this.#state === "still") this.#onStill(this);
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
