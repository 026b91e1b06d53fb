import { isSafeInteger } from "../support/guards.ts";
import { unknownKey } from "../support/unknown-key.ts";
import { plainMembers } from "./plain-members.ts";

/** Every member of an object of options: the least whole number that a number can be; for all else its type, or `true` where that says too little. */
export type OptionNames<Options extends object> = {
  readonly [Name in keyof Options]-?: [NonNullable<Options[Name]>] extends [number]
    ? number
    : true | "string" | "boolean" | "function";
};

/**
 * The members of an object of options, each read once.
 *
 * @param names every member that they can have; a number is a whole one from the given least on
 * @param owner begins the message: the function that takes them
 * @throws TypeError for a name that no option has, for a number that is none or too small, and for what is no plain object: such an
 *   option would restrict nothing
 * @example
 * const { timeMs = 5_000 } = knownOptions(options, { timeMs: 1, rows: 1, bytes: 1 }, "dbBroker");
 */
export function knownOptions<Options extends object>(
  given: Options,
  names: OptionNames<NoInfer<Options>>,
  owner: string,
): Options {
  const members = plainMembers(given);
  if (!members)
    throw new TypeError(`The options of ${owner} are not a plain object. Pass a literal that owns its members.`);
  const known = Object.keys(names);
  const unknown = unknownKey(members, known);
  if (unknown !== undefined) {
    // All of the few names: a search for the nearest would be part of each page.
    const hint = known.length === 0 ? "It has none." : `Known are ${known.join(", ")}.`;
    throw new TypeError(`${owner} has no option \`${unknown.slice(0, 64).toWellFormed()}\`. ${hint}`);
  }
  for (const [name, kind] of Object.entries<true | number | string>(names)) {
    const { [name]: value } = members;
    // Each comparison with NaN is false: as a limit it would be none.
    const isFine = typeof kind === "number" ? isSafeInteger(value) && value >= kind : typeof value === kind;
    if (kind === true || value === undefined || isFine) continue;
    const wanted = typeof kind === "number" ? `whole number from ${kind}` : kind;
    throw new TypeError(
      `${owner} takes a ${wanted} as \`${name}\`, not ${typeof value === "number" ? value : typeof value}.`,
    );
  }
  return members as Options;
}
