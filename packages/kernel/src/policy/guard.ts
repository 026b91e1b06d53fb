import type { Need } from "../capability/capability.ts";
import { hostMatcher } from "../capability/hosts.ts";
import { matchPath } from "../capability/paths.ts";
import { type DecisionInput, holdsAll } from "./condition.ts";
import type { Policy } from "./load.ts";
import type { Governed } from "./policy.ts";

/** What the policy says to the requests of one call, over and above its grants. */
export interface RequestGuard {
  /** Why a request is refused, as a sentence. */
  refusal(need: Need): string | undefined;
  /** No file may be larger. */
  readonly fileBytes: number;
}

/** Everything about requests that can be settled for the call is settled at its first one; most calls make none. Each request then meets what is left. */
export function guardOf(policy: Policy, input: DecisionInput): RequestGuard {
  let settled: RequestGuard | undefined;
  return {
    fileBytes: policy.governance(input.manifest.name)?.sizes?.fileBytes ?? Infinity,
    refusal: (need) => (settled ??= settle(policy, input)).refusal(need),
  };
}

function settle(policy: Policy, input: DecisionInput): RequestGuard {
  // A rule that cannot say whether it concerns the call denies.
  const rules = policy.requestRules(input).filter(({ tests }) => holdsAll(tests, input) !== false);
  const { hosts, paths, sizes } = policy.governance(input.manifest.name) ?? {};
  const fileBytes = sizes?.fileBytes ?? Infinity;
  const hostRefused = hosts && governs(hosts, hostMatcher);
  const pathRefused = paths && governs(paths, (globs) => (path) => globs.some((glob) => matchPath(glob, path)));
  return {
    fileBytes,
    refusal: (need) => {
      if ("host" in need && hostRefused?.(need.host))
        return `The policy does not let ${input.manifest.name} reach ${need.host}.`;
      if (need.kind === "fs.read" || need.kind === "fs.write") {
        if (pathRefused?.(need.path)) return `The policy does not let ${input.manifest.name} reach ${need.path}.`;
        if ((need.bytes ?? 0) > fileBytes)
          return `The policy gives ${input.manifest.name} files of at most ${fileBytes} bytes.`;
      }
      const rule = rules.find(({ concerns }) => concerns?.(need))?.rule;
      return rule && `${rule.reason} (Rule ${rule.id}.)`;
    },
  };
}

function governs(
  { allowed, forbidden = [] }: Governed,
  compile: (patterns: readonly string[]) => (value: string) => boolean,
): (value: string) => boolean {
  const isAllowed = allowed && compile(allowed);
  const isForbidden = compile(forbidden);
  return (value) => isForbidden(value) || isAllowed?.(value) === false;
}
