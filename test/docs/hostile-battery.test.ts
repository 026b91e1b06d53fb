import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { groups } from "../hostile/battery/groups.ts";
import { renderBattery } from "../hostile/battery/render.ts";

describe("docs/hostile-battery.md", () => {
  it("lists every attempt of the code, each held on every platform: `npm run hostile` writes it", () => {
    const page = readFileSync(new URL("../../docs/hostile-battery.md", import.meta.url), "utf8");
    expect(page).toBe(renderBattery(groups, () => "held"));
  });

  it("tries in `npm test` only attempts that there are", () => {
    for (const { attempts, quick = {} } of groups)
      expect(attempts.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.values(quick).flat()));
  });

  it("names each attempt once", () => {
    const ids = groups.flatMap(({ attempts }) => attempts.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(150);
  });
});
