import type { EffectiveBounds } from "../bounds/effective.ts";
import { Deadline } from "../bounds/deadline.ts";
import { uuidv7 } from "../id/uuid.ts";
import * as limits from "../limits.ts";
import { OutputStream } from "../hash/output-stream.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { Hash } from "../hash/hash.ts";
import type { JsonValue } from "../json/json.ts";
import { safeErrorField } from "../support/safe-error-field.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Clock } from "./clock.ts";
import { outcomeHash } from "./outcome.ts";
import { boundedCall, type BoundedCall } from "./bounded-call.ts";
import { openWithin } from "./open-within.ts";
import type { IsolateHost } from "./port.ts";
import { allLogical } from "./port.ts";

export type PureCheck =
  | { readonly ok: true; readonly runs: number }
  | {
      readonly ok: false;
      /**
       * `varies` and `asked`: it lies. `unfinished`: an isolate did not open, got lost, or gave nothing in time. `refused`: nothing ran, because there is no
       * such tool here, it does not say that it is pure, or the input does not fit it.
       */
      readonly kind: Exclude<PurityFinding, "pure">;
      /** Place of the input, from 0; `null` where it is about none of them. */
      readonly input: number | null;
      readonly reason: string;
      /** Where it `varies`: of the first call, and of the one that differs. */
      readonly hashes: readonly string[];
    };

/** The findings of a check, as the log names them. */
export const purityFindings = ["pure", "varies", "asked", "unfinished", "refused"] as const;
export type PurityFinding = (typeof purityFindings)[number];

export interface PureOptions {
  readonly host: Pick<IsolateHost, "open">;
  readonly tool: RegisteredTool;
  readonly input: JsonValue;
  /** Fresh isolates, each with another clock and another seed, and called twice; at least 2. Default 3. */
  readonly runs: number | undefined;
  readonly clock: Clock;
  /** Of each run. */
  readonly bounds: EffectiveBounds;
  /** Of the outcomes' digests. */
  readonly hash: Hash;
}

/**
 * Whether a tool that says it is `pure` is, for one input: its outcome depends on that alone, and it asks for nothing. A tool can pass and still lie about inputs
 * that were not tried; one that `varies` or `asked` lies.
 *
 * @param place of the input
 */
export async function verifyPure(options: PureOptions, place: number): Promise<PureCheck> {
  const runs = Math.max(2, (options.runs ?? limits.pureRuns) || 2);
  const hashes: string[] = [];
  for (let run = 0; run < runs; run++) {
    const end = await runTwice(options, canonicalJson(options.input), run, hashes);
    if (end) return { ok: false, input: place, ...end, hashes: [] };
    const [first = ""] = hashes;
    const at = hashes.findIndex((hash) => hash !== first);
    if (at > 0) {
      const reason = `Call ${at + 1} returned another output than call 1.`;
      return { ok: false, kind: "varies", input: place, reason, hashes: [first, ...hashes.slice(at, at + 1)] };
    }
  }
  return { ok: true, runs };
}

/**
 * Calls a fresh isolate twice, so memory between calls shows. Returns the reason to skip the rest,
 * if any.
 */
async function runTwice(
  options: PureOptions,
  inputText: string,
  run: number,
  hashes: string[],
): Promise<Pick<Extract<PureCheck, { ok: false }>, "kind" | "reason"> | undefined> {
  const { host, tool, clock, bounds, hash } = options;
  let asked = false;
  // As for a call: the time of the first one includes the opening.
  let deadline = new Deadline(bounds.timeoutMs, clock);
  let isolate;
  try {
    isolate = await openWithin(host, tool, deadline);
  } catch (error) {
    const why = safeErrorField(error, "message") ?? "its host failed";
    return { kind: "unfinished", reason: `A run did not begin: ${why}` };
  }
  if (!isolate) return { kind: "unfinished", reason: "A run did not begin in time." };
  try {
    for (let calls = 0; calls < 1 || (isolate.alive && calls < 2); calls++) {
      const flow = new OutputStream(bounds.outputBytes, hash);
      // A terminated isolate answers as lost.
      const stopTimer = deadline.watch(() => isolate.terminate("it did not end"));
      const outcome = await isolate
        .call(callOf(options, inputText, run), {
          signal: new AbortController().signal,
          log: () => {},
          progress: () => {},
          write: (piece) => flow.keep(piece),
          request: async () => {
            asked = true;
            return { ok: false, error: { code: "CAPABILITY_DENIED", message: "A pure tool has none.", hint: "" } };
          },
        })
        .finally(stopTimer);
      deadline = new Deadline(bounds.timeoutMs, clock);
      if (asked) return { kind: "asked", reason: "The tool asked for a capability." };
      if (outcome.kind === "lost") return { kind: "unfinished", reason: `A run did not end: ${outcome.reason}.` };
      hashes.push(outcomeHash(outcome, hash, flow));
    }
  } finally {
    isolate.terminate("the run has ended");
  }
  return undefined;
}

function callOf({ tool, clock, bounds }: PureOptions, inputText: string, run: number): BoundedCall {
  const callId = uuidv7(clock.now()); // As any other: nothing says that it is watched.
  const call = {
    callId,
    sessionId: callId,
    inputText,
    outputKind: tool.manifest.output.kind,
    // The first run has the inputs of every call, the others have different ones. So the
    // check finds a tool whose output depends on them.
    seed: `${run}`.padStart(64, "0"),
    nowMs: run * 1e10,
    real: allLogical,
  };
  return boundedCall(call, bounds);
}
