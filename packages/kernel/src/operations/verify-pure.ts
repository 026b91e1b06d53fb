import { kernelScope } from "../audit/scope.ts";
import { type PureCheck, verifyPure } from "../isolate/verify-pure.ts";
import { runsIn } from "../policy/modes/mode.ts";
import { withProgram } from "../tool/program.ts";
import { resolve } from "../call/steps/resolve.ts";
import { type Input, readInput } from "../call/steps/validate.ts";
import { boundsOf } from "../call/steps/reserve.ts";
import { CallFault } from "../call/faults/fault.ts";
import type { CallRecord } from "../call/record/record.ts";
import { attempt, type HealthParts } from "./health.ts";

/**
 * Runs a tool that claims to be pure several times, and records the outcome. The start is on record
 * before the tool runs. The cache drops the results of an impure tool, and stores none of its later
 * calls.
 *
 * @throws AuditUnavailable
 */
export async function checkPurity(
  call: CallRecord,
  inputs: readonly unknown[],
  runs: number | undefined,
  parts: HealthParts & { readonly distrust: ((toolHash: string) => void) | undefined },
): Promise<PureCheck> {
  const { log, clock, distrust } = parts;
  const { mode } = parts.authority();
  const resolved = attempt(() => resolve(call, parts));
  if (resolved instanceof CallFault) return refused(null, resolved.error.message);
  const { tool, host } = resolved;
  const { manifest } = tool;
  if (manifest.determinism !== "pure")
    return refused(null, `${tool.id} says that it is ${manifest.determinism}, not pure.`);
  if (!runsIn(mode, manifest)) return refused(null, `${tool.id} does not run in ${mode}.`);
  const given: Input[] = [];
  for (const [place, foreign] of inputs.entries()) {
    const input = await inputOrFault(resolved, foreign);
    if (input instanceof CallFault) return refused(place, input.error.message);
    given.push(input);
  }
  const about = { tool: tool.id, toolHash: tool.hash };
  log.record("purity.asked", kernelScope, { ...about, host: host.name, inputs: given.length });
  await log.flush();
  let check: PureCheck = { ok: true, runs: 0 };
  for (const [place, { input }] of given.entries()) {
    // For each input: the policy can change between two.
    const bounds = boundsOf(tool, parts.authority().policy, call.options);
    const program = withProgram(tool, input, call.hash);
    const once = await verifyPure({ host, tool: program, input, runs, clock, bounds, hash: call.hash }, place);
    check = once.ok ? { ok: true, runs: check.runs + once.runs } : once;
    if (!check.ok) break;
  }
  if (!check.ok && (check.kind === "varies" || check.kind === "asked")) distrust?.(tool.hash);
  log.record("purity.answered", kernelScope, {
    ...about,
    found: check.ok ? "pure" : check.kind,
    inputHash: check.ok ? null : (given[check.input ?? 0]?.inputHash ?? null),
    outcomeHashes: check.ok ? [] : check.hashes,
  });
  await log.flush();
  return check;
}

function refused(input: number | null, reason: string): PureCheck {
  return { ok: false, kind: "refused", input, reason, hashes: [] };
}

async function inputOrFault(of: Parameters<typeof readInput>[0], foreign: unknown): Promise<Input | CallFault> {
  try {
    return await readInput(of, foreign);
  } catch (thrown) {
    if (thrown instanceof CallFault) return thrown;
    throw thrown;
  }
}
