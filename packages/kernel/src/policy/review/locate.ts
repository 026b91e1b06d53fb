import { jsonPlaces, type Position, positionsIn } from "../../json/json-places.ts";

/**
 * Where a JSON Pointer (RFC 6901) leads in a JSON text, so that a refusal of a document can be shown at its line. As far as the text goes with it:
 * for what is absent, the place of the last container that is there. A text that a person still types is read up to its first fault. The text is read once.
 *
 * @example
 * const loaded = loadPolicy(JSON.parse(text));
 * if (!loaded.ok) console.error(locator(text)(loaded.error.path).line, loaded.error.message);
 */
export function locator(text: string): (pointer: string) => Position {
  const places = jsonPlaces(text);
  const positionOf = positionsIn(text);
  return (pointer) => positionOf(places.startOf(pointer));
}
