import { Limiter } from "../../../packages/kernel/src/bounds/limiter.ts";
import { FairSemaphore } from "../../../packages/kernel/src/bounds/fair-semaphore.ts";
import { Keys } from "../../../packages/kernel/src/extensions/idempotency/keys.ts";
import { Revocations } from "../../../packages/kernel/src/capability/revocation.ts";
import { Approvals } from "../../../packages/kernel/src/policy/approval/standing-approvals.ts";
import { Counters } from "../../../packages/kernel/src/policy/decision/counters.ts";

/** What one kernel after the other holds, read from the owners themselves. */
export interface Ledger {
  /** Names and amounts of everything that is held; empty where everything was given back. */
  readonly held: () => readonly string[];
  readonly stop: () => void;
}

/** Watches every owner that is used from now on. */
export function openLedger(): Ledger {
  const limiters = new Set<Limiter>();
  const places = new Set<FairSemaphore>();
  const counters = new Set<Counters>();
  const grants = new Set<Revocations>();
  const keys = new Set<Keys>();
  let approvals = 0;
  let questions = 0;
  const undo = [
    note(Limiter.prototype, "reserve", limiters),
    note(FairSemaphore.prototype, "take", places),
    note(Counters.prototype, "charge", counters),
    note(Revocations.prototype, "track", grants),
    note(Keys.prototype, "claim", keys),
    wrap(Approvals.prototype, "hold", (hold) => {
      approvals++;
      return { ...hold, release: once(() => (approvals--, hold.release())) };
    }),
    wrap(Approvals.prototype, "ask", (done) => {
      if (!done) return done;
      questions++;
      return once(() => (questions--, done()));
    }),
  ];
  const amounts = (): Record<string, number> => ({
    slots: sum(limiters, ({ inFlight }) => inFlight),
    places: sum(places, ({ held }) => held),
    turns: sum(places, ({ waiting }) => waiting),
    charges: sum(counters, ({ open }) => open),
    grants: sum(grants, ({ open }) => open),
    keys: sum(keys, ({ running }) => running),
    approvals,
    questions,
  });
  return {
    held: () => Object.entries(amounts()).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`])),
    stop: () => undo.forEach((each) => each()),
  };
}

function sum<Owner>(owners: ReadonlySet<Owner>, of: (owner: Owner) => number): number {
  let all = 0;
  for (const owner of owners) all += of(owner);
  return all;
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

type Methods<Name extends string> = { [Each in Name]: (...args: never[]) => unknown };
type Applied<Result> = { apply(owner: unknown, args: readonly unknown[]): Result };

/** Notes whose method is called. */
function note<Name extends string, Owner extends Methods<Name>>(
  prototype: Owner,
  name: Name,
  owners: Set<Owner>,
): () => void {
  const method = prototype[name] as unknown as Applied<unknown>;
  const noting = function (this: Owner, ...args: unknown[]): unknown {
    owners.add(this);
    return method.apply(this, args);
  };
  return replace(prototype, name, noting);
}

/** Changes what a method gives. */
function wrap<Name extends string, Owner extends Methods<Name>>(
  prototype: Owner,
  name: Name,
  change: (given: ReturnType<Owner[Name]>) => ReturnType<Owner[Name]>,
): () => void {
  const method = prototype[name] as unknown as Applied<ReturnType<Owner[Name]>>;
  return replace(prototype, name, function (this: Owner, ...args: unknown[]) {
    return change(method.apply(this, args));
  });
}

function replace(owner: object, name: string, method: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name)!;
  Object.defineProperty(owner, name, { ...before, value: method });
  return () => Object.defineProperty(owner, name, before);
}
