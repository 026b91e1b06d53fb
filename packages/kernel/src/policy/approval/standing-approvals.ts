import type { Clock } from "../../isolate/clock.ts";
import * as limits from "../../limits.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import type { SteadyClock } from "../../state/steady-clock.ts";
import type { StateTable } from "../../state/table.ts";
import { Shares } from "../../support/shares.ts";
import type { Mode } from "../../tool/manifest.ts";
import { type DecisionInput, holdsAll } from "../decision/condition.ts";
import type { ApprovalProof } from "../proof/proof.ts";
import { type Standing, type StandingApproval, testsOf } from "./standing-table.ts";

/** The binding of an approval: another tool version, argument, grant, policy, mode or cause of the question voids it. */
export interface ApprovalKey {
  readonly sessionId: string;
  readonly caller: string;
  readonly toolHash: string;
  readonly argsHash: string;
  readonly grantHash: string;
  readonly policyHash: string;
  readonly mode: Mode;
  /** Hash of the tool that makes the call from within; `null` for a call from outside. */
  readonly within: string | null;
  /** The reason code of the question and the ids of its rules: the approver saw no other reason. */
  readonly asks: readonly string[];
}

/** An approval in use: an open question, or a call that runs on it. */
export interface Hold {
  /** Aborts at the revocation of the approval. */
  readonly revoked: AbortSignal;
  /** On the monotonic clock. */
  readonly untilMs: number;
  readonly release: () => void;
}

/**
 * Approvals that outlive their call, and those that are in use. Standing ones hold for the same tool, grants, policy and mode, and for the same question.
 * They hold for the same arguments or for those that fit a pattern. Bounded: the oldest of the caller with the most are forgotten, and asked for again.
 */
export class Approvals {
  readonly #clock: Clock;
  readonly #steady: SteadyClock;
  readonly #standing: StateTable<Standing>;
  readonly #held = new Map<string, Set<AbortController>>();
  /** Open questions per caller. */
  readonly #asked = new Shares();
  /** Of each open question: ends it where policy or mode went on. */
  readonly #checks = new Set<() => void>();

  constructor(clock: Clock, steady: SteadyClock, table: StateTable<Standing>) {
    this.#clock = clock;
    this.#steady = steady;
    this.#standing = table;
  }

  find(key: ApprovalKey, input: DecisionInput): Standing | undefined {
    const exact = this.#alive(keyText(key));
    if (exact) return exact;
    const prefix = `${keyText({ ...key, argsHash: "" })} `;
    for (const [text] of this.#standing.entries()) {
      if (!text.startsWith(prefix)) continue;
      const standing = this.#alive(text);
      if (standing?.tests && holdsAll(standing.tests, input) === true) return standing;
    }
    return undefined;
  }

  /** For the event of the decision that follows from it. */
  remember(key: ApprovalKey, tool: string, approval: ApprovalProof): readonly StateChange[] {
    const { caller, sessionId } = key;
    const { scope, approvalId } = approval;
    if (scope === "once") return noChanges;
    const text = scope === "session" ? keyText(key) : `${keyText({ ...key, argsHash: "" })} ${approvalId}`;
    const untilMs = this.#steady.now() + limits.standingApprovalMs;
    const holdsFor = { tool, caller, sessionId };
    return this.#standing.put(text, { approval, holdsFor, untilMs, tests: testsOf(approval) });
  }

  /** By when a call on it has to have started, on the monotonic clock. */
  startsBeforeMs({ untilMs }: Standing): number {
    return this.#clock.monotonicMs() + untilMs - this.#steady.now();
  }

  /** Takes a place for one more question of a caller; gives the way to free it, or `undefined` where there is none left. */
  ask(caller: string): (() => void) | undefined {
    if (this.#asked.of(caller) >= limits.openQuestions) return undefined;
    this.#asked.add(caller, 1);
    return () => this.#asked.add(caller, -1);
  }

  /** Calls `check` now and at each change of policy or mode, until the returned function is called. */
  watch(check: () => void): () => void {
    this.#checks.add(check);
    check();
    return () => this.#checks.delete(check);
  }

  checkOpen(): void {
    for (const check of this.#checks) check();
  }

  hold(approvalId: string, untilMs: number = this.#clock.monotonicMs() + limits.approvalMs): Hold {
    const controller = new AbortController();
    const holders = this.#held.get(approvalId) ?? new Set();
    holders.add(controller);
    this.#held.set(approvalId, holders);
    return {
      revoked: controller.signal,
      untilMs,
      release: () => {
        holders.delete(controller);
        if (holders.size === 0) this.#held.delete(approvalId);
      },
    };
  }

  /**
   * Revokes an approval: denies its open request, takes the grants of a call that runs on it, and
   * removes a standing one with the next event. Returns `undefined` for an unknown id.
   */
  revoke(approvalId: string): readonly StateChange[] | undefined {
    const changes = this.#removeWhere(({ approval }) => approval.approvalId === approvalId);
    let found = changes.length > 0;
    for (const controller of Array.from(this.#held.get(approvalId) ?? [])) {
      controller.abort("revoked");
      found = true;
    }
    return found ? changes : undefined;
  }

  /** Ends the standing approvals of a tool, `name@version`. Calls that run on one continue. */
  forget(tool: string): readonly StateChange[] {
    return this.#removeWhere(({ holdsFor }) => holdsFor.tool === tool);
  }

  #removeWhere(matches: (standing: Standing) => boolean): readonly StateChange[] {
    return Array.from(this.#standing.entries()).flatMap(([text, standing]) =>
      matches(standing) ? this.#standing.remove(text) : noChanges,
    );
  }

  /** The standing approvals, oldest first. */
  list(): readonly StandingApproval[] {
    return Array.from(this.#standing.entries()).flatMap(([text]) => {
      const standing = this.#alive(text);
      return standing ? { ...standing.approval, ...standing.holdsFor } : [];
    });
  }

  #alive(text: string): Standing | undefined {
    const standing = this.#standing.get(text);
    return standing && standing.untilMs > this.#steady.now() ? standing : undefined;
  }
}

/** JSON, so that no choice of names can make two keys collide. The caller comes first: it owns the row. */
export function keyText(key: ApprovalKey): string {
  const { sessionId, caller, toolHash, argsHash, grantHash, policyHash, mode, within, asks } = key;
  return JSON.stringify([caller, sessionId, toolHash, argsHash, grantHash, policyHash, mode, within, asks]);
}
