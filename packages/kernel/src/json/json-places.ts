import { jsonExcess, type JsonTextLimits } from "./json-excess.ts";
import { JsonScan, type JsonStop } from "./json-scan.ts";
import { pointerOf } from "./pointer.ts";
import { SNAPSHOT_LIMITS } from "./snapshot-limits.ts";

/** A value of a JSON text, and where it stands. */
export interface JsonPlace {
  /** RFC 6901. */
  readonly pointer: string;
  /** Of the member's name, or of the value where it has none. */
  readonly start: number;
  /** Where the value itself begins. */
  readonly value: number;
  /** The end of the text where the value has none. */
  readonly end: number;
  /** Its object had a member of this name before. */
  readonly isRepeated: boolean;
}

export interface JsonPlaces {
  /** Outer values before those within. */
  readonly places: readonly JsonPlace[];
  readonly stop: JsonStop | undefined;
  /** Where the value of a JSON Pointer begins; of what is absent, the last value on the way that is there. */
  startOf(pointer: string): number;
}

/**
 * Where each value of a text stands, as far as the text is JSON (RFC 8259). None of a text that exceeds the limits.
 *
 * @param limits default: those of a value that the kernel takes
 */
export function jsonPlaces(text: string, limits: JsonTextLimits = SNAPSHOT_LIMITS): JsonPlaces {
  const isTooMuch = jsonExcess(text, limits) !== undefined;
  const scan = new JsonScan(isTooMuch ? "" : text);
  const places: JsonPlace[] = [];
  const starts = new Map<string, number>();
  const open: { end: number }[] = [];
  let name: { readonly start: number; readonly isRepeated: boolean } | undefined;
  while (scan.next()) {
    const { step, start, end, isRepeated } = scan;
    if (step === "name") name = { start, isRepeated };
    else if (step === "close") open.pop()!.end = end;
    else {
      const place = { pointer: pointerOf(scan.path), start, value: start, end, isRepeated: false, ...name };
      name = undefined;
      places.push(place);
      starts.set(place.pointer, start);
      if (step === "open") open.push(Object.assign(place, { end: text.length }));
    }
  }
  return {
    places,
    stop: isTooMuch ? undefined : scan.stop,
    startOf(pointer) {
      let there = pointer;
      while (there !== "" && !starts.has(there)) there = there.slice(0, there.lastIndexOf("/"));
      return starts.get(there) ?? 0;
    },
  };
}

/** From 1, in characters as editors count them. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The position of each offset of a text. It looks for the line ends once. */
export function positionsIn(text: string): (offset: number) => Position {
  const ends = [-1, ...[...text.matchAll(/\n/g)].map(({ index }) => index)];
  return (offset) => {
    const line = ends.findLastIndex((end) => end < offset);
    return { line: line + 1, column: offset - ends[line]! };
  };
}
