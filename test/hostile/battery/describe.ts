import { describe, expect, it } from "vitest";
import { applies } from "./attempt.ts";
import { groups } from "./groups.ts";
import { type Bench, hitsOf, judge } from "./judge.ts";

/** The battery on one platform: one test per attempt, named by its id. */
export function describeBattery(bench: () => Bench, platform: Bench["platform"]): void {
  describe("the canary", () => {
    it("counts what reaches it", async () => {
      const { canary } = bench();
      await fetch(`${canary}/control-${platform}/fetch`);
      expect(await hitsOf(canary, `control-${platform}`)).toEqual([`GET /control-${platform}/fetch`]);
    });
  });

  const tried = groups
    .map((group) => ({ group, attempts: group.attempts.filter((each) => applies(group, each, platform) === true) }))
    .filter(({ attempts }) => attempts.length > 0);
  describe.each(tried)("$group.name", ({ group, attempts }) => {
    it.each(attempts.map((attempt) => [attempt.id, attempt] as const))("%s", async (_, attempt) => {
      expect(await judge(bench(), group, attempt)).toBe("held");
    });
  });
}
