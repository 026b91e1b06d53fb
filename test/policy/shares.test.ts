import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as limits from "../../packages/kernel/src/limits.ts";
import { Counters } from "../../packages/kernel/src/policy/decision/counters.ts";
import { decide } from "../../packages/kernel/src/policy/decision/decide.ts";
import { SessionLabels } from "../../packages/kernel/src/policy/decision/session-labels.ts";
import { applyAll } from "../../packages/kernel/src/state/change.ts";
import { SlidingWindows } from "../../packages/kernel/src/state/sliding-windows.ts";
import type { SteadyClock } from "../../packages/kernel/src/state/steady-clock.ts";
import { sized } from "../support/size.ts";
import { inputOf, loaded } from "./support.ts";

const clock = { now: () => 1_000_000 } as SteadyClock;
const all = ["private"];

describe("one caller that fills the tables of all", () => {
  it("has labels for its own unknown sessions, and for no other caller's", () => {
    const labels = new SessionLabels(clock);
    for (let at = 0; at < limits.labelledSessions; at++)
      applyAll(labels.add({ caller: "attacker", sessionId: `s${at}` }, all, false));
    expect(labels.of({ caller: "attacker", sessionId: "unknown" }, all)).toEqual(all);
    const session = { caller: "victim", sessionId: "unknown" };
    expect(labels.of(session, all)).toEqual([]);
    applyAll(labels.add(session, all, false));
    expect(labels.of(session, all)).toEqual(all);
    expect(labels.of({ caller: "victim", sessionId: "another" }, all)).toEqual([]);
  });

  it("has no counter for its own unknown sessions, and takes none from another caller", () => {
    const counters = new Counters(clock);
    const policy = loaded({
      rules: [
        {
          id: "r",
          effect: "deny",
          when: { count: { windowMs: 60_000, per: ["session"], moreThan: 1 } },
          reason: "No.",
        },
      ],
    });
    const call = (caller: string, sessionId: string): string => {
      const verdict = decide(policy, inputOf({ caller, sessionId }), (_, window) => counters.used(window));
      if (verdict.decision !== "deny") counters.charge(verdict.charges).end(true);
      return verdict.decision;
    };
    for (let at = 0; at < limits.counterWindows; at++) call("attacker", `s${at}`);
    expect(call("attacker", "unknown")).toBe("deny");
    // A name of the attacker's session is another session of another caller.
    for (const sessionId of ["unknown", "s0"]) expect(call("victim", sessionId)).not.toBe("deny");
  });
});

it("callers fill a table no further than its end, and each leaves half of the rest", () => {
  const step = fc.record({ caller: fc.nat(4), times: fc.integer({ min: 1, max: 80 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const table = new SlidingWindows("a.b", 64);
      const held = new Map<number, number>();
      let row = 0;
      for (const { caller, times } of steps) {
        for (let i = 0; i < times; i++) {
          const key = JSON.stringify([`"caller\\${caller}`, row++]);
          const free = 64 - table.size;
          const mine = held.get(caller) ?? 0;
          expect(table.entries(key, 60_000, 0) !== undefined).toBe(mine < free);
          if (mine >= free) continue;
          table.spend(key, 60_000, 1, 0).isOpen = false;
          held.set(caller, mine + 1);
        }
      }
      expect(table.size).toBe([...held.values()].reduce((sum, rows) => sum + rows, 0));
      expect(Math.max(0, ...held.values())).toBeLessThanOrEqual(32);
      // The shares are free again when the rows have ended.
      table.expire(100_000);
      expect([table.size, table.entries('["new",1]', 60_000, 100_000)]).toEqual([0, []]);
    }),
    { numRuns: sized(100, 2_000) },
  );
});
