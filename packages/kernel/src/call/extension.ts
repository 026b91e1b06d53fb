import type { AuditLog } from "../audit/log.ts";
import type { Backoff } from "../isolate/backoff.ts";
import type { Bounds } from "../bounds/bounds.ts";
import type { CallOptions, SuspendOptions, Suspension } from "./arrival/call-options.ts";
import type { Family } from "../capability/family.ts";
import type { Families } from "../capability/registry.ts";
import type { CallFault } from "./faults/fault.ts";
import type { ReadOptions } from "./arrival/read-options.ts";
import type { OptionQuestion } from "./questions.ts";
import type { Points } from "./points.ts";
import type { Entry } from "./arrival/entry.ts";
import type { CallRecord, Parent } from "./record/record.ts";
import type { ApprovalAnswer } from "./steps/authorize.ts";
import type { Authority } from "./steps/check-grants.ts";
import type { Decided } from "./steps/decide.ts";
import type { Started } from "./steps/start.ts";
import type { Clock } from "../isolate/clock.ts";
import type { IsolateHost } from "../isolate/port.ts";
import type { Hash } from "../hash/hash.ts";
import type { StandingApproval } from "../policy/approval/standing-table.ts";
import type { PreviewQuestion } from "../policy/decision/preview.ts";
import type { SessionLabels } from "../policy/decision/session-labels.ts";
import type { CallResult } from "../result.ts";
import type { DeclaredTable, StateChange } from "../state/change.ts";
import type { SteadyClock } from "../state/steady-clock.ts";
import type { Mode } from "../tool/manifest.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Registry } from "../tool/registry.ts";

/** The kernel lends this to its extensions, once, before the first call. */
export interface ExtensionContext {
  readonly log: AuditLog;
  readonly clock: Clock;
  /** The time of rows. */
  readonly steady: SteadyClock;
  readonly hash: Hash;
  readonly families: Families;
  readonly registry: Registry;
  readonly hosts: readonly IsolateHost[];
  readonly backoff: Backoff;
  readonly labels: SessionLabels;
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
  readonly refuse: (call: CallRecord, fault: CallFault) => Promise<CallResult>;
  readonly nextAttempt: (started: Started) => Started;
  /** A slot for a call that was suspended in its run. The call gives it back. */
  readonly takeSlotAgain: (call: CallRecord, tool: RegisteredTool, bounds: Bounds) => Promise<void>;
}

/** Methods of the kernel that an extension serves. */
export interface Services {
  readonly approvals?: {
    list(): readonly StandingApproval[];
    revoke(approvalId: string, reason: string): Promise<boolean>;
  };
  readonly suspension?: {
    suspend(callId: string, options: SuspendOptions): Promise<Suspension>;
    resume(bytes: unknown, options: unknown): Promise<CallResult>;
  };
  /** The standing answer to the approval request, or the request itself. Sends none. */
  readonly foresee?: (decided: Decided) => ApprovalAnswer | PreviewQuestion;
  /** Nothing that a tool gave is given to others, from now on. */
  readonly distrust?: (toolHash: string) => void;
  /** It keeps the values that a policy says to keep: without it the kernel refuses such a policy. */
  readonly keepsValues?: true;
}

/**
 * An optional feature. A feature that acquires something uses the call's `defer` and `carry`, as
 * steps do.
 */
export interface Extension extends Points, Services {
  readonly name: string;
  /** The kinds that it serves, which the kernel knows by it. */
  readonly families?: readonly Family[];
  /** Options of a call that it honours. The core refuses an option that no extension honours. */
  readonly honours?: readonly OptionQuestion[];
  /** All of its state that has to outlive the kernel. */
  readonly state?: readonly DeclaredTable[];
  open?(context: ExtensionContext): void;
  /** Forgets what the tool left behind: the next one of its name may be another one. Gives what is forgotten with its event. */
  onUnregister?(tool: RegisteredTool): readonly StateChange[];
  /** Policy or mode changed, and the change is in effect. */
  onAuthority?(): void;
}

/** All extensions of a kernel together. */
export interface Composed {
  readonly points: Points;
  readonly services: Services;
  readonly honoured: ReadonlySet<OptionQuestion>;
  readonly tables: readonly DeclaredTable[];
  readonly onUnregister: (tool: RegisteredTool) => readonly StateChange[];
  readonly onAuthority: () => void;
}

/**
 * In the order given: at a point the first answer counts, and the first `aroundRun` is the outermost.
 *
 * @throws TypeError for two extensions that answer one question
 */
export function composeExtensions(extensions: readonly Extension[]): Composed {
  const honours = extensions.flatMap((each) => each.honours ?? []);
  const twice = honours.find((question, at) => honours.indexOf(question) !== at);
  if (twice) throw tooMany(twice);
  const tables = extensions.flatMap(({ state = [] }) => state);
  const names = tables.map(({ name }) => name);
  const shared = names.find((name, at) => names.indexOf(name) !== at);
  if (shared) throw tooMany(`the table ${shared}`);
  const services: Services = {
    ...only(extensions, "approvals"),
    ...only(extensions, "suspension"),
    ...only(extensions, "foresee"),
    ...only(extensions, "distrust"),
    ...only(extensions, "keepsValues"),
  };
  const onUnregister: Composed["onUnregister"] = (tool) =>
    extensions.flatMap((each) => each.onUnregister?.(tool) ?? []);
  const onAuthority = (): void => extensions.forEach((each) => each.onAuthority?.());
  return { points: pointsOf(extensions), services, honoured: new Set(honours), tables, onUnregister, onAuthority };
}

function pointsOf(extensions: readonly Extension[]): Points {
  const arrivals = bound(extensions, "onArrival");
  const decisions = bound(extensions, "afterDecision");
  const allows = bound(extensions, "afterAllow");
  const runs = bound(extensions, "aroundRun");
  const conclusions = bound(extensions, "beforeConclude");
  const ends = bound(extensions, "onEnd");
  return {
    ...(arrivals.length > 0 && { onArrival: (call) => arrivals.forEach((each) => each(call)) }),
    ...(decisions.length > 0 && { afterDecision: firstOf(decisions) }),
    ...(allows.length > 0 && { afterAllow: firstOf(allows) }),
    ...(runs.length > 0 && { aroundRun: nestedIn(runs) }),
    ...(conclusions.length > 0 && { beforeConclude: firstOf(conclusions) }),
    ...(ends.length > 0 && { onEnd: allOf(ends) }),
    ...single(extensions, "ask"),
    ...single(extensions, "onQuestion"),
    ...single(extensions, "brokersOf"),
    ...single(extensions, "onRun"),
    ...single(extensions, "beforeReuse"),
  };
}

function nestedIn(runs: readonly Bound<"aroundRun">[]): Bound<"aroundRun"> {
  return (started, attempt) =>
    runs.reduceRight<typeof attempt>((inner, around) => (each) => around(each, inner), attempt)(started);
}

const tooMany = (name: string): TypeError =>
  new TypeError(`Got several extensions with ${name}, expected one: remove the others.`);

type Bound<Name extends keyof Points> = NonNullable<Points[Name]>;

function bound<Name extends keyof Points>(extensions: readonly Extension[], name: Name): Bound<Name>[] {
  return extensions.flatMap((each) => (each[name] ? [each[name].bind(each) as Bound<Name>] : []));
}

/** A point that only one extension can have. */
function single<Name extends keyof Points>(
  extensions: readonly Extension[],
  name: Name,
): { readonly [Each in Name]?: Bound<Name> } {
  const [first, ...more] = bound(extensions, name);
  if (more.length > 0) throw tooMany(name);
  return first ? ({ [name]: first } as { readonly [Each in Name]?: Bound<Name> }) : {};
}

function only<Name extends keyof Services>(
  extensions: readonly Extension[],
  name: Name,
): { readonly [Each in Name]?: NonNullable<Services[Name]> } {
  const [first, ...more] = new Set(extensions.flatMap((each) => each[name] ?? []));
  if (more.length > 0) throw tooMany(name);
  return first ? ({ [name]: first } as { readonly [Each in Name]?: NonNullable<Services[Name]> }) : {};
}

type Point<State, Answer> = (state: State) => Answer | undefined | Promise<Answer | undefined>;

/** Continues in the same turn as long as no point waits. */
function firstOf<State, Answer>(points: readonly Point<State, Answer>[]): Point<State, Answer> {
  const [first] = points;
  if (first && points.length === 1) return first;
  const from = (start: number, state: State): Answer | undefined | Promise<Answer | undefined> => {
    for (let at = start; at < points.length; at++) {
      const answer = points[at]?.(state);
      if (answer instanceof Promise) return answer.then((given) => given ?? from(at + 1, state));
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
  return (state) => from(0, state);
}

function allOf<State>(
  points: readonly ((state: State) => void | Promise<void>)[],
): (state: State) => void | Promise<void> {
  const [first] = points;
  if (first && points.length === 1) return first;
  return async (state) => {
    for (const point of points) await point(state);
  };
}
