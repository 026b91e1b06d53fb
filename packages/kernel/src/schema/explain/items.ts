import { at, count, type Keywords } from "../context.ts";
import { identity } from "../equal.ts";
import { items as itemCount, received } from "./describe.ts";
import type { Spot } from "./spot.ts";

/** `contains` with `minContains` and `maxContains`: how many items were wanted, and how many conform. */
export function containsFault(spot: Spot, place: Keywords): void {
  const list = spot.items;
  const conforms = spot.context.check(at(place, "contains"));
  const found = list.filter((item) => conforms(item)).length;
  const least = count(place, "minContains") ?? 1;
  const most = count(place, "maxContains");
  const bound =
    most === undefined
      ? `at least ${least}`
      : most === least
        ? `exactly ${most}`
        : least === 0
          ? `at most ${most}`
          : `${least} to ${most}`;
  const one = (most ?? least) === 1;
  const wanted = `an array with ${bound} ${one ? "item that conforms" : "items that conform"} to contains`;
  spot.add(
    "contains",
    wanted,
    undefined,
    `${received(list, spot.hidden)}, of which ${found} ${found === 1 ? "conforms" : "conform"}`,
  );
}

/** `uniqueItems`: the first item that an earlier one equals. */
export function uniqueFault(spot: Spot): void {
  const list = spot.items;
  const byText = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const text = identity(item);
    const earlier = byText.get(text);
    byText.set(text, index);
    if (earlier === undefined) continue;
    const which = `an array of ${itemCount(list.length)}, of which ${earlier} and ${index} are equal`;
    return spot.add("uniqueItems", "an array without equal items", undefined, which);
  }
}
