import { versionedId } from "../../support/tool-names.ts";
import { grantOf } from "../../capability/grant.ts";
import { blake3Hash } from "../../hash/blake3-hash.ts";
import type { Clock } from "../../isolate/clock.ts";
import { applyAll } from "../../state/change.ts";
import { SteadyClock } from "../../state/steady-clock.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import type { JsonValue } from "../../json/json.ts";
import { compileSchema } from "../../schema/compile-schema.ts";
import type { OwnValidator } from "../../schema/types.ts";
import * as limits from "../../limits.ts";
import { Counters } from "../decision/counters.ts";
import { decideCall } from "../decision/decide-targets.ts";
import { readInstant } from "../document/instant.ts";
import type { Policy } from "../document/make.ts";
import type { Decision } from "../document/policy.ts";
import { SessionLabels } from "../decision/session-labels.ts";
import { declaredBy } from "../../tool/declared.ts";
import type { Mode, ToolManifest } from "../../tool/manifest.ts";
import { neededKinds, targetArguments, targetsIn } from "../../tool/targets.ts";

/** A call as it was made: from a journal, or written down for the purpose. */
export interface RecordedCall {
  readonly manifest: ToolManifest;
  /** As the client sent it, or as the kernel filled it in. */
  readonly input: JsonValue;
  /** RFC 3339. Calls are simulated in the order of their times. */
  readonly time: string;
  readonly caller?: string;
  readonly sessionId?: string;
  readonly mode?: Mode;
  /** The decision at that time. */
  readonly decision?: Decision;
}

export interface SimulatedCall {
  readonly time: string;
  /** `name@version`. */
  readonly tool: string;
  readonly caller: string;
  readonly before: Decision | null;
  readonly after: Decision;
  readonly rules: readonly string[];
  readonly reason: string;
}

function timeOf({ time }: Pick<RecordedCall, "time">): number {
  const ms = readInstant(time);
  if (ms === undefined)
    throw new RangeError(`Got the time ${JSON.stringify(time)}, expected a day of the calendar: 2026-01-31T12:00:00Z.`);
  return ms;
}

/**
 * The decisions of a policy about recorded calls, for inputs as the schemas of the tools fill them in. Its counters and labels advance with the recorded
 * times. A call that it would ask about counts as run.
 *
 * @throws RangeError for a time that is no RFC 3339 text
 */
export function simulate(policy: Policy, calls: readonly RecordedCall[]): readonly SimulatedCall[] {
  let nowMs = 0;
  const clock: Clock = { now: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
  const steady = new SteadyClock(clock);
  const counters = new Counters(steady);
  const labels = new SessionLabels(steady);
  const inputs = new Inputs();
  const inOrder = calls.toSorted((a, b) => timeOf(a) - timeOf(b));
  return inOrder.map(
    ({ manifest, input: given, time, caller = "anonymous", sessionId, mode = "NORMAL", decision = null }, index) => {
      nowMs = timeOf({ time });
      const session = { caller, sessionId: sessionId ?? `call ${index}` };
      const about = { time, tool: versionedId(manifest), caller, before: decision };
      const row = (after: Decision, rules: readonly string[], reason: string): SimulatedCall => {
        return { ...about, after, rules, reason };
      };
      const taken = inputs.take(manifest, given);
      if (typeof taken === "string") return row("deny", [], taken);
      const { input, inputBytes } = taken;
      const { families } = policy;
      const read = targetsIn(input, targetArguments(manifest, families));
      if (!read.ok) return row("deny", [], read.fault.message);
      const { targets } = read;
      const grant = grantOf(declaredBy(manifest, families), [policy.grants(manifest.name, caller)], blake3Hash);
      const missing = neededKinds(manifest, targets).find((kind) => !grant.kinds.includes(kind));
      if (missing !== undefined) return row("deny", [], `${missing} is not granted.`);
      const verdict = decideCall(
        policy,
        {
          manifest,
          ...session,
          mode,
          input,
          inputBytes,
          granted: grant.kinds,
          nowMs,
          labels: labels.of(session, policy.allLabels),
        },
        (_, window) => counters.used(window),
        { targets, grant, holder: { tool: manifest.name, caller, hasOwnGrants: false } },
      );
      if (verdict.decision !== "deny" || !verdict.enforced) {
        const charged = counters.charge(verdict.charges);
        const learnt = labels.add(session, policy.labelsOf(manifest.name), sessionId === undefined);
        applyAll([...charged.changes(), ...learnt]);
        charged.end(true);
      }
      return row(
        verdict.decision,
        verdict.determining.map(({ rule }) => rule.id),
        verdict.reason,
      );
    },
  );
}

interface TakenInput {
  readonly input: JsonValue;
  /** Of the canonical input. */
  readonly inputBytes: number;
}

/** Inputs as the schemas of their tools make them: validated, with defaults. */
class Inputs {
  readonly #validators = new Map<ToolManifest["input"], OwnValidator | undefined>();

  /** A sentence where the kernel refuses the input. */
  take({ input: schema }: ToolManifest, given: JsonValue): TakenInput | string {
    if (!this.#validators.has(schema)) {
      const compiled = compileSchema(schema);
      this.#validators.set(schema, compiled.ok ? compiled.validator : undefined);
    }
    const valid = this.#validators.get(schema)?.validateOwn(given);
    if (!valid?.ok) return "The input does not fit the schema of the tool.";
    // JSON with defaults from a manifest is JSON.
    const input = valid.value as JsonValue;
    const inputBytes = new TextEncoder().encode(canonicalJson(input)).length;
    return inputBytes > limits.inputBytes ? "The input is too large for a call." : { input, inputBytes };
  }
}

/** Rows as a table for people; changes have the mark `*`. */
export function simulationTable(rows: readonly SimulatedCall[]): string {
  const header = ["", "time", "tool", "caller", "before", "after", "rules"];
  const lines = rows.map(({ time, tool, caller, before, after, rules }) => [
    before !== null && before !== after ? "*" : "",
    time,
    tool,
    caller,
    before ?? "–",
    after,
    rules.join(", "),
  ]);
  const widths = header.map((_, column) => Math.max(...[header, ...lines].map((line) => line[column]?.length ?? 0)));
  return [header, ...lines]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
