import { afterAll } from "vitest";

/*
 * Loaded before every test file that shares its process with others: a global that one of them leaves changed breaks tests of another file, in an order that no one sees again.
 */

/** Node makes these when they are first read; reading them here warns, or costs time. */
const lazy = new Set<PropertyKey>(["localStorage", "sessionStorage"]);

type Members = ReadonlyMap<PropertyKey, unknown>;

const watched = new Map<string, object>([
  ["globalThis", globalThis],
  ["process.env", process.env],
  ...[Object, Array, Function, Promise, Map, Set, String, Number, RegExp, Uint8Array].map(
    ({ name, prototype }) => [`${name}.prototype`, prototype as object] as const,
  ),
]);

/** A getter stands for itself: its value may be another one at each reading. */
function membersOf(owner: object): Members {
  const members = new Map<PropertyKey, unknown>();
  for (const key of Reflect.ownKeys(owner)) {
    // Node replaces a getter by what it gives at the first reading.
    if (owner === globalThis && !lazy.has(key)) Reflect.get(owner, key);
    const descriptor = Reflect.getOwnPropertyDescriptor(owner, key);
    members.set(key, descriptor?.get ?? descriptor?.value);
  }
  return members;
}

/** Vitest and libraries keep things of their own here, and no test reads them. wrangler takes its log's level from the environment alone. */
const isPrivate = (key: PropertyKey): boolean =>
  typeof key === "symbol" || /^(?:__|\$|lc_|VITEST|WRANGLER_LOG$)/.test(String(key));

function changes(name: string, before: Members, after: Members): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].flatMap((key) => {
    if (isPrivate(key) || (before.has(key) && after.has(key) && Object.is(before.get(key), after.get(key)))) return [];
    const how = !before.has(key) ? "added" : after.has(key) ? "changed" : "removed";
    return [`${name}.${String(key)} ${how}`];
  });
}

const before = new Map([...watched].map(([name, owner]) => [name, membersOf(owner)]));

// Of all `afterAll` hooks of a file the first one that is registered runs last.
afterAll(() => {
  const found = [...watched].flatMap(([name, owner]) => changes(name, before.get(name)!, membersOf(owner)));
  if (found.length > 0)
    throw new Error(`This file leaves globals behind: ${found.join(", ")}. Restore them in an afterEach or afterAll.`);
});
