import { afterAll, describe, expect, it } from "vitest";
import { thorough } from "../../support/size.ts";
import { applies, type AttemptGroup, type Platform } from "./attempt.ts";
import { groups } from "./groups.ts";
import { allHits, hitsOf, judge } from "./judge.ts";
import { type Bench, type Room, roomFor, tagOf } from "./room.ts";

/** `npm run hostile` tries all of them, each on its own. */
function triedOn(platform: Platform, group: AttemptGroup): AttemptGroup["attempts"] {
  const quick = thorough ? undefined : group.quick?.[platform];
  return group.attempts.filter(
    (each) => applies(group, each, platform) === true && (quick === undefined || quick.includes(each.id)),
  );
}

/** The battery on one platform: one test per attempt, named by its id. */
export function describeBattery(bench: () => Bench, platform: Platform): void {
  describe("the canary", () => {
    it("counts what reaches it", async () => {
      const { canary } = bench();
      await fetch(`${canary}/control-${platform}/fetch`);
      expect(await hitsOf(canary, `control-${platform}`)).toEqual([`GET /control-${platform}/fetch`]);
    });
  });

  const tried = groups
    .map((group) => ({ group, attempts: triedOn(platform, group) }))
    .filter(({ attempts }) => attempts.length > 0);
  describe.each(tried)("$group.name", ({ group, attempts }) => {
    let room: Room | undefined;
    afterAll(() => room?.close());

    it.each(attempts.map((attempt) => [attempt.id, attempt] as const))("%s", async (_, attempt) => {
      room ??= roomFor(bench(), group, attempts, !thorough && group.isApart !== true);
      expect(await judge(bench(), room, group, attempt)).toBe("held");
    });
  });

  it("let nothing reach the canary after it was judged", async () => {
    // Other files of the project ask the same canary at the same time.
    const own = tried.flatMap(({ attempts }) => attempts.map(({ id }) => `/${tagOf(platform, id)}/`));
    const hits = await allHits(bench().canary, platform);
    expect(hits.filter((hit) => own.some((tag) => hit.includes(tag)))).toEqual([]);
  });
}
