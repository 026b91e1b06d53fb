import { limits } from "../limits.ts";
import { Flow } from "../normalize/flow.ts";
import { canonicalJson } from "../normalize/canonical-json.ts";
import { blake3Hash, type Hash, hashText } from "../normalize/hash.ts";
import type { JsonValue } from "../normalize/json.ts";
import { said } from "../normalize/said.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Clock } from "./clock.ts";
import { outcomeHash } from "./outcome.ts";
import type { IsolateHost } from "./port.ts";

export type PureCheck =
  | { readonly ok: true; readonly runs: number }
  | {
      readonly ok: false;
      /**
       * `varies` and `asked`: it lies. `unfinished`: an isolate was not opened, was lost, or gave nothing in time. `refused`: nothing ran, because there is no
       * such tool here, it does not say that it is pure, or the input does not fit it.
       */
      readonly kind: Exclude<PurityFinding, "pure">;
      /** Place of the input, from 0; `null` where it is about none of them. */
      readonly input: number | null;
      readonly reason: string;
      /** Of the first run, and of the one that differs. */
      readonly hashes: readonly string[];
    };

/** What the log says of a check. */
export const purityFindings = ["pure", "varies", "asked", "unfinished", "refused"] as const;
export type PurityFinding = (typeof purityFindings)[number];

export interface PureOptions {
  readonly host: IsolateHost;
  readonly tool: RegisteredTool;
  readonly inputs: readonly JsonValue[];
  /** Fresh isolates per input, each with another clock and another seed; at least 2. Default 3. */
  readonly runs?: number;
  readonly clock: Clock;
  /** For each run. Default 10,000. */
  readonly timeoutMs?: number;
  /** Of the outcomes' digests. Default BLAKE3. */
  readonly hash?: Hash;
}

/**
 * Whether a tool that says it is `pure` is: its outcome depends on its input alone, and it asks for nothing. A tool can pass and still lie about inputs
 * that were not tried; one that `varies` or `asked` lies. A kernel has the same as a method, which also puts it on record.
 */
export async function verifyPure(options: PureOptions): Promise<PureCheck> {
  const { inputs } = options;
  const runs = Math.max(2, options.runs ?? limits.pureRuns);
  for (const [input, value] of inputs.entries()) {
    const hashes: string[] = [];
    for (let run = 0; run < runs; run++) {
      const once = await runOnce(options, canonicalJson(value), run);
      if (once.kind === "asked")
        return { ok: false, kind: "asked", input, reason: "The tool asked for a capability.", hashes };
      if (once.kind === "unfinished") return { ok: false, kind: "unfinished", input, reason: once.reason, hashes };
      hashes.push(once.hash);
      if (once.hash !== hashes[0]) {
        const reason = `Run ${run + 1} gave something else than run 1.`;
        return { ok: false, kind: "varies", input, reason, hashes: [hashes[0]!, once.hash] };
      }
    }
  }
  return { ok: true, runs: runs * inputs.length };
}

type Once =
  | { readonly kind: "ended"; readonly hash: string }
  | { readonly kind: "asked" }
  | { readonly kind: "unfinished"; readonly reason: string };

async function runOnce(options: PureOptions, inputText: string, run: number): Promise<Once> {
  const { host, tool, clock, timeoutMs = 10_000, hash = blake3Hash } = options;
  const { outputBytes = limits.wholeOutputBytes, fuel, memoryBytes } = tool.manifest.bounds;
  const flow = new Flow(outputBytes, hash);
  let asked = false;
  let isolate;
  try {
    isolate = await host.open(tool);
  } catch (error) {
    const why = said(error, "message") ?? "its host failed";
    return { kind: "unfinished", reason: `A run did not begin: ${why}` };
  }
  // A terminated isolate answers as lost.
  const stopTimer = clock.after(timeoutMs, () => isolate.terminate("it did not end"));
  try {
    const outcome = await isolate.call(
      {
        callId: `pure-${run}`,
        sessionId: `pure-${run}`,
        inputText,
        outputKind: tool.manifest.output.kind,
        outputBytes,
        // Far apart, so that a tool that shows any of the three is found.
        seed: hashText(`${run}`).slice(-64),
        nowMs: Date.UTC(2001 + run, run % 12, 1 + run),
        ...(fuel !== undefined && { fuel }),
        ...(memoryBytes !== undefined && { memoryBytes }),
      },
      {
        signal: new AbortController().signal,
        log: () => {},
        progress: () => {},
        write: (piece) => flow.keep(piece),
        request: async () => {
          asked = true;
          return { ok: false, error: { code: "CAPABILITY_DENIED", message: "A pure tool has none.", hint: "" } };
        },
      },
    );
    if (asked) return { kind: "asked" };
    if (outcome.kind === "lost") return { kind: "unfinished", reason: `A run did not end: ${outcome.reason}.` };
    return { kind: "ended", hash: outcomeHash(outcome, hash, flow) };
  } finally {
    stopTimer();
    isolate.terminate("the run has ended");
  }
}
