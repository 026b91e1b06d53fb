import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { type Later, type Way, changing, ways } from "./changing.ts";
import { seams as approvers } from "./rereads/approvers.ts";
import { seams as brokers } from "./rereads/brokers.ts";
import { seams as callers } from "./rereads/callers.ts";
import { seams as embedders } from "./rereads/embedders.ts";
import { seams as evidence } from "./rereads/evidence.ts";
import { seams as hosts } from "./rereads/hosts.ts";

const seams = [...approvers, ...brokers, ...callers, ...embedders, ...evidence, ...hosts];

/*
 * Whatever somebody else gives to a kernel is read once. Each seam is given an object that is something else at the second look, and the kernel has to do
 * exactly what it does with plain data that says what the first look said.
 */

describe.each(seams)("$name", ({ run, first, second, ways: possible = ways }) => {
  it("tells its two answers apart", async () => {
    expect(await run(copyOf(first) as never)).not.toEqual(await run(copyOf(second) as never));
  });

  it.each(possible)("is read once, through %s", async (way) => {
    const expected = await run(copyOf(first) as never);
    const given = changing(first, at(second), way);
    expect(await run(given.value as never)).toEqual(expected);
    expect(given.again).toEqual([]);
  });

  it("decides by its first answer, whatever it says later", async () => {
    const expected = await run(copyOf(first) as never);
    const laters = fc.constantFrom<Later>(at(second), () => undefined, () => Number.NaN, () => ({}), fail, (_, was) => [was]); // prettier-ignore
    await fc.assert(
      fc.asyncProperty(
        laters,
        laters,
        fc.constantFrom<Way>(...possible),
        fc.integer(),
        async (one, other, way, seed) => {
          const later: Later = (place, was) => ((place.length * 31 + seed) % 2 === 0 ? one : other)(place, was);
          expect(await run(changing(first, later, way).value as never)).toEqual(expected);
        },
      ),
      { numRuns: sized(12, 500) },
    );
  });
});

function fail(): never {
  throw new Error("It is read again.");
}

/** What the other answer says at the same place. */
function at(second: unknown): Later {
  return (place) =>
    place
      .split("/")
      .slice(1)
      .reduce<unknown>((value, key) => (Object(value) as Record<string, unknown>)[key], second);
}

/** Plain, and nobody else's. */
function copyOf<T>(data: T): T {
  if (Array.isArray(data)) return data.map(copyOf) as T;
  if (typeof data !== "object" || data === null || Object.getPrototypeOf(data) !== Object.prototype) return data;
  return Object.fromEntries(Object.entries(data).map(([key, each]) => [key, copyOf(each as unknown)])) as T;
}
