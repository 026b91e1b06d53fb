import type { Decided } from "../call/authorize.ts";
import type { Call, Stop } from "../call/call.ts";
import type { Started } from "../call/execute.ts";
import type { LiveCall } from "../call/live.ts";
import type { Path, Steps } from "../call/steps.ts";
import type { Isolate } from "../isolate/port.ts";
import type { Lease } from "../isolate/lease.ts";
import { newApprovalId } from "../policy/ask.ts";
import type { FrozenQuestion } from "./frozen.ts";
import { type Again, type Pending, Requests } from "./requests.ts";

/** What a resumed call goes on with. */
export interface Thaw {
  readonly question?: FrozenQuestion | undefined;
  readonly open?: (isWanted: () => boolean) => Promise<Isolate>;
  readonly again?: (started: Started) => readonly Again<Live>[];
}

/** Where a call is. */
export type Place =
  | { readonly kind: "on-its-way" }
  | {
      readonly kind: "asking";
      readonly decided: Decided;
      readonly approvalId: string;
      readonly leave: AbortController;
    }
  | {
      readonly kind: "running";
      readonly started: Started;
      readonly requests: Requests<Live>;
      /** Once it has an isolate. */
      leased: { readonly lease: Lease; readonly putAside: () => boolean } | undefined;
    };

/** One call that this suspender knows, as long as it is here. */
export class Live implements LiveCall {
  readonly call: Call;
  readonly path: Path;
  readonly steps: Steps;
  place: Place = { kind: "on-its-way" };
  hasEnded = false;
  /** It has stopped where it was, and waits for its snapshot. */
  isPut = false;
  readonly #thaw: () => Thaw | undefined;
  #isHeld = false;
  readonly #gone: (live: Live) => void;
  readonly #changed: () => void;
  readonly #told: PromiseWithResolvers<Stop> = Promise.withResolvers();

  constructor(
    { call, path, steps, thaw }: Pick<Live, "call" | "path" | "steps"> & { readonly thaw: () => Thaw | undefined },
    changed: () => void,
    gone: (live: Live) => void,
  ) {
    this.call = call;
    this.path = path;
    this.steps = steps;
    this.#thaw = thaw;
    this.#changed = changed;
    this.#gone = gone;
  }

  asks(decided: Decided): ReturnType<LiveCall["asks"]> {
    const question = this.#thaw()?.question;
    const isSame =
      question?.argsHash === decided.inputHash &&
      question.grantHash === decided.grant.hash &&
      question.policyHash === decided.policy.hash &&
      question.mode === decided.mode;
    const approvalId = isSame ? question.approvalId : newApprovalId(this.steps.parts.clock);
    const leave = new AbortController();
    this.place = { kind: "asking", decided, approvalId, leave };
    this.#changed();
    return { approvalId, aside: leave.signal };
  }

  runs(started: Started): ReturnType<LiveCall["runs"]> {
    const { open, again } = this.#thaw() ?? {};
    const requests = new Requests<Live>(started.gate, again?.(started) ?? [], this.#changed);
    if (this.#isHeld) requests.hold();
    const place: Place = { kind: "running", started, requests, leased: undefined };
    this.place = place;
    return {
      gate: requests,
      onLease: (lease, putAside) => {
        place.leased = { lease, putAside };
        this.#changed();
      },
      thaw: open,
    };
  }

  put(): Promise<Stop> {
    this.isPut = true;
    return this.#told.promise;
  }

  /** What {@link put} waits for. */
  tell(why: Stop): void {
    this.#told.resolve(why);
  }

  end(): void {
    this.hasEnded = true;
    this.#gone(this);
    this.#changed();
  }

  /** A call that this one makes begins. */
  begins(child: Live): void {
    if (this.place.kind === "running") this.place.requests.begins(child);
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Nothing that it asks for goes out, and no answer in, for it and for the calls that it waits for. */
  hold(): void {
    this.#isHeld = true;
    if (this.place.kind === "running") this.place.requests.hold();
    for (const child of this.children) child.hold();
  }

  release(): void {
    this.#isHeld = false;
    for (const child of this.children) child.release();
    if (this.place.kind === "running") this.place.requests.release();
  }

  get pending(): readonly Pending<Live>[] {
    return this.place.kind === "running" ? this.place.requests.pending : [];
  }

  /** The calls that it waits for. */
  get children(): readonly Live[] {
    return this.pending.flatMap(({ child, reply }) => (child && !reply ? [child] : []));
  }

  /** Itself, and all calls that it waits for: those that wait for others before them. */
  get tree(): readonly Live[] {
    return [this, ...this.children.flatMap((child) => child.tree)];
  }
}
