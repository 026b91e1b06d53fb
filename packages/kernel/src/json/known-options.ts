import { plainMembers } from "./plain-members.ts";
import { unknownKey } from "../support/unknown-key.ts";

/**
 * The members of an object of options, each read once.
 *
 * @param names every member that they can have
 * @param owner begins the message: the function that takes them
 * @throws TypeError for a name that no option has, and for what is no plain object: such an option would restrict nothing
 * @example
 * const { timeMs = 5_000 } = knownOptions(options, { timeMs: true, rows: true, bytes: true }, "dbBroker");
 */
export function knownOptions<Options extends object>(
  given: Options,
  names: Readonly<Record<keyof NoInfer<Options>, true>>,
  owner: string,
): Options {
  const members = plainMembers(given);
  if (!members)
    throw new TypeError(`The options of ${owner} are not a plain object. Pass a literal that owns its members.`);
  const known = Object.keys(names);
  const unknown = unknownKey(members, known);
  if (unknown === undefined) return members as Options;
  // All of the few names: a search for the nearest would be part of each page.
  throw new TypeError(
    `${owner} has no option \`${unknown.slice(0, 64).toWellFormed()}\`. Known are ${known.join(", ")}.`,
  );
}
