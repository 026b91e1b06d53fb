import type { AuditLog } from "../audit/log.ts";
import type { Bounds } from "../bounds/bounds.ts";
import type { SecretKeeper } from "../capability/secret.ts";
import type { CallOptions } from "../call/call-options.ts";
import type { CallFault } from "../call/fault.ts";
import type { ReadOptions } from "../call/options.ts";
import type { Points } from "../call/points.ts";
import type { Entry } from "../call/entry.ts";
import type { CallRecord, Parent } from "../call/record.ts";
import type { Authority } from "../call/steps/check-grants.ts";
import type { Started } from "../call/steps/start.ts";
import type { Clock } from "../isolate/clock.ts";
import type { IsolateHost } from "../isolate/port.ts";
import type { Hash } from "../normalize/hash.ts";
import type { SessionLabels } from "../policy/session-labels.ts";
import type { CallResult } from "../result.ts";
import type { Mode } from "../tool/manifest.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Registry } from "../tool/registry.ts";

/** The kernel lends this to its extensions, once, before the first call. */
export interface ExtensionContext {
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly hash: Hash;
  readonly registry: Registry;
  readonly hosts: readonly IsolateHost[];
  readonly labels: SessionLabels;
  readonly secrets: SecretKeeper | undefined;
  readonly authority: () => Authority;
  readonly setMode: (mode: Mode, reason: string) => Promise<void>;
  /** The points of all extensions together. */
  readonly points: Points;
  readonly openCall: (toolName: string, options: CallOptions, parent?: Parent) => CallRecord;
  /** A call of no tool, for options that were read: to refuse it. */
  readonly openRead: (read: ReadOptions) => CallRecord;
  /** Takes ownership of the call, and takes it through the whole pipeline. */
  readonly perform: (call: CallRecord, entry: Entry) => Promise<CallResult>;
  /** Takes ownership of a call that ends with this fault, on record. */
  readonly close: (call: CallRecord, fault: CallFault) => Promise<CallResult>;
  /** Takes ownership of a call that never arrives, and leaves no event. */
  readonly refuse: (call: CallRecord, fault: CallFault) => CallResult;
  readonly nextAttempt: (started: Started) => Started;
  /** A slot for a call that was suspended in its run. The call gives it back. */
  readonly takeSlotAgain: (call: CallRecord, tool: RegisteredTool, bounds: Bounds) => Promise<void>;
}

/**
 * An optional feature. A feature that acquires something uses the call's `defer` and `carry`, as
 * steps do.
 */
export interface Extension extends Points {
  readonly name: string;
  open?(context: ExtensionContext): void;
}

/**
 * The points of all extensions together, in the order given: at a point the first answer counts, and
 * the first `aroundRun` is the outermost. A point of one extension is that extension's own function.
 *
 * @throws TypeError for two extensions that answer one question
 */
export function composeExtensions(extensions: readonly Extension[]): Points {
  const points: { -readonly [Name in keyof Points]: Points[Name] } = {};
  const arrivals = bound(extensions, "onArrival");
  if (arrivals.length > 0) points.onArrival = (call) => arrivals.forEach((each) => each(call));
  const decisions = bound(extensions, "afterDecision");
  if (decisions.length > 0) points.afterDecision = firstOf(decisions);
  const allows = bound(extensions, "afterAllow");
  if (allows.length > 0) points.afterAllow = firstOf(allows);
  const runs = bound(extensions, "aroundRun");
  if (runs.length > 0)
    points.aroundRun = (started, attempt) =>
      runs.reduceRight<typeof attempt>((inner, around) => (each) => around(each, inner), attempt)(started);
  const conclusions = bound(extensions, "beforeConclude");
  if (conclusions.length > 0) points.beforeConclude = firstOf(conclusions);
  const ends = bound(extensions, "onEnd");
  if (ends.length > 0) points.onEnd = ends.length === 1 ? ends[0]! : allOf(ends);
  return { ...points, ...single(extensions, "ask"), ...single(extensions, "onQuestion"), ...single(extensions, "brokersOf"), ...single(extensions, "onRun"), ...single(extensions, "beforeReuse") }; // prettier-ignore
}

type Bound<Name extends keyof Points> = NonNullable<Points[Name]>;

function bound<Name extends keyof Points>(extensions: readonly Extension[], name: Name): Bound<Name>[] {
  return extensions.flatMap((each) => (each[name] ? [each[name].bind(each) as Bound<Name>] : []));
}

/** A point that only one extension can have. */
function single<Name extends keyof Points>(
  extensions: readonly Extension[],
  name: Name,
): { readonly [Each in Name]?: Bound<Name> } {
  const [only, ...more] = bound(extensions, name);
  if (more.length > 0) throw new TypeError(`Got ${more.length + 1} extensions with ${name}, expected one.`);
  return only ? ({ [name]: only } as { readonly [Each in Name]?: Bound<Name> }) : {};
}

type Point<State, Answer> = (state: State) => Answer | undefined | Promise<Answer | undefined>;

/** Goes on in the same turn as long as no point waits. */
function firstOf<State, Answer>(points: readonly Point<State, Answer>[]): Point<State, Answer> {
  const [only] = points;
  if (only && points.length === 1) return only;
  const from = (at: number, state: State): Answer | undefined | Promise<Answer | undefined> => {
    for (let next = at; next < points.length; next++) {
      const answer = points[next]!(state);
      if (answer instanceof Promise) return answer.then((first) => first ?? from(next + 1, state));
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
  return (state) => from(0, state);
}

function allOf<State>(points: readonly ((state: State) => void | Promise<void>)[]): (state: State) => Promise<void> {
  return async (state) => {
    for (const point of points) await point(state);
  };
}
