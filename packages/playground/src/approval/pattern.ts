import { isObject } from "../form/resolve.ts";
import {
  type ArgumentCondition,
  checkHostPattern,
  checkPath,
  checkGlob,
  type JsonObject,
  type JsonValue,
  parseUrl,
  pointerOf,
} from "@keyhole/kernel";

/** One way in which an argument of later calls may differ from the shown one. */
export interface ArgumentChoice {
  readonly id: string;
  readonly text: string;
  /** `undefined`: any value, and none. */
  readonly condition: ArgumentCondition | undefined;
}

export interface ArgumentChoices {
  /** The argument's name. */
  readonly name: string;
  /** The narrowest first. */
  readonly choices: readonly ArgumentChoice[];
}

/** More than these would make no form that a person reads; what is beyond them stays exactly as it is. */
const shownArguments = 12;

/**
 * The choices of a person for each argument. An argument that the tool knows and this call leaves out has to stay out unless the person chooses otherwise. A
 * pattern that says nothing of it would let a later call add it.
 */
export function argumentChoices(input: JsonValue, known: JsonObject): readonly ArgumentChoices[] {
  const given = isObject(input) ? input : {};
  const names = [...Object.keys(given), ...Object.keys(known).filter((name) => !Object.hasOwn(given, name))];
  return names.map((name, index) => {
    const at = pointerOf([name]);
    const choices = Object.hasOwn(given, name) ? choicesFor(at, given[name]!) : absentChoices(at);
    return { name, choices: index < shownArguments ? choices : choices.slice(0, 1) };
  });
}

/** The conditions of what was chosen; the narrowest stands where nothing was. */
export function patternOf(
  all: readonly ArgumentChoices[],
  chosen: ReadonlyMap<string, string>,
): readonly ArgumentCondition[] {
  return all.flatMap(({ name, choices }) => {
    const choice = choices.find(({ id }) => id === chosen.get(name)) ?? choices[0];
    return choice?.condition ?? [];
  });
}

const anyValue: ArgumentChoice = { id: "any", text: "Any value", condition: undefined };

function absentChoices(at: string): readonly ArgumentChoice[] {
  return [{ id: "absent", text: "Left out", condition: { at, exists: false } }, anyValue];
}

function choicesFor(at: string, value: JsonValue): readonly ArgumentChoice[] {
  const exact: ArgumentChoice = { id: "exact", text: `Exactly ${shortOf(value)}`, condition: { at, equals: value } };
  if (typeof value === "number")
    return [exact, { id: "at-most", text: `At most ${value}`, condition: { at, atMost: value } }, anyValue];
  if (typeof value === "string") return [exact, ...placesOf(at, value), anyValue];
  return [exact, anyValue];
}

/** Wider than one text, narrower than any: the host of an address, the folder of a path. */
function placesOf(at: string, text: string): readonly ArgumentChoice[] {
  const hostname = /^https?:/i.test(text) ? parseUrl(text)?.hostname : undefined;
  if (hostname !== undefined) {
    if (checkHostPattern(hostname) !== undefined) return [];
    return [{ id: "host", text: `Any address on ${hostname}`, condition: { at, hostIn: [hostname] } }];
  }
  const folder = text.slice(0, Math.max(0, text.lastIndexOf("/")));
  const glob = `${folder}/**`;
  return folder === "" || checkPath(text) !== undefined || checkGlob(glob) !== undefined
    ? []
    : [{ id: "folder", text: `Anything in ${folder}/`, condition: { at, pathIn: [glob] } }];
}

function shortOf(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
