import { type JsonPlaces, jsonPlaces } from "@keyhole/kernel/foreign";

/** A larger text has no links. */
const limits = { maxDepth: 200, maxNodes: 5_000, maxMembers: 5_000 };

export function placesOf(text: string): JsonPlaces {
  return jsonPlaces(text, limits);
}

/** The innermost value at this offset of the text. */
export function pointerAt({ places }: JsonPlaces, offset: number): string {
  return places.findLast(({ start, end }) => start <= offset && offset <= end)?.pointer ?? "";
}

/** From 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}
