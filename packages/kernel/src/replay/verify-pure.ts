import type { Clock } from "../isolate/clock.ts";
import type { IsolateHost } from "../isolate/port.ts";
import { ceilings } from "../limits.ts";
import { blake3Hash, hashText } from "../normalize/hash.ts";
import type { RegisteredTool } from "../tool/package.ts";
import { canonicalJson } from "../normalize/canonical-json.ts";
import type { JsonValue } from "../normalize/json.ts";
import { outcomeHash } from "./record.ts";

export type PureCheck =
  | { readonly ok: true; readonly runs: number }
  | {
      readonly ok: false;
      /** Place of the input, from 0. */
      readonly input: number;
      readonly reason: string;
      /** Of the first run, and of the one that differs. */
      readonly hashes: readonly string[];
    };

export interface PureOptions {
  readonly host: IsolateHost;
  readonly tool: RegisteredTool;
  readonly inputs: readonly JsonValue[];
  /** Fresh isolates per input, each with another clock and another seed. Default 3. */
  readonly runs?: number;
  readonly clock: Clock;
  /** For each run. Default 10,000. */
  readonly timeoutMs?: number;
}

/**
 * Whether a tool that says it is `pure` is: its outcome depends on its input alone, and it asks for nothing. A tool can pass and still lie about inputs
 * that were not tried; one that fails lies.
 */
export async function verifyPure(options: PureOptions): Promise<PureCheck> {
  const { inputs, runs = 3 } = options;
  for (const [place, input] of inputs.entries()) {
    const hashes: string[] = [];
    for (let run = 0; run < runs; run++) {
      const once = await runOnce(options, canonicalJson(input), run);
      if (once.lost) return { ok: false, input: place, reason: "A run did not end.", hashes };
      if (once.asked) return { ok: false, input: place, reason: "The tool asked for a capability.", hashes };
      hashes.push(once.hash);
      if (once.hash !== hashes[0]) {
        const reason = `Run ${run + 1} gave something else than run 1.`;
        return { ok: false, input: place, reason, hashes: [hashes[0]!, once.hash] };
      }
    }
  }
  return { ok: true, runs: runs * inputs.length };
}

interface Once {
  readonly hash: string;
  readonly asked: boolean;
  readonly lost: boolean;
}

async function runOnce(options: PureOptions, inputText: string, run: number): Promise<Once> {
  const { host, tool, clock, timeoutMs = 10_000 } = options;
  const isolate = await host.open(tool);
  let asked = false;
  // A terminated isolate answers as lost.
  const stopTimer = clock.after(timeoutMs, () => isolate.terminate("it did not end"));
  try {
    const outcome = await isolate.call(
      {
        callId: `pure-${run}`,
        sessionId: `pure-${run}`,
        inputText,
        outputKind: tool.manifest.output.kind,
        outputBytes: tool.manifest.bounds.outputBytes ?? ceilings.outputBytes,
        // Far apart, so that a tool that shows any of the three is found.
        seed: hashText(`${run}`).slice(-64),
        nowMs: Date.UTC(2001 + run, run % 12, 1 + run),
      },
      {
        signal: new AbortController().signal,
        log: () => {},
        progress: () => {},
        request: async () => {
          asked = true;
          return { ok: false, error: { code: "CAPABILITY_DENIED", message: "A pure tool has none.", hint: "" } };
        },
      },
    );
    return { hash: outcomeHash(outcome, blake3Hash), asked, lost: outcome.kind === "lost" };
  } finally {
    stopTimer();
    isolate.terminate("the run has ended");
  }
}
