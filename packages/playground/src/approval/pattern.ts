import {
  type ArgumentCondition,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseUrl,
  patternFault,
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
  const given = isJsonObject(input) ? input : {};
  const names = [...Object.keys(given), ...Object.keys(known).filter((name) => !Object.hasOwn(given, name))];
  return names.map((name, index) => {
    const choices = Object.hasOwn(given, name) ? choicesFor(name, given[name]!) : absentChoices(pointerOf([name]));
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

function choicesFor(name: string, value: JsonValue): readonly ArgumentChoice[] {
  const at = pointerOf([name]);
  const exact = { id: "exact", text: `Exactly ${shortOf(value)}`, condition: { at, equals: value } };
  const asked = { approvalId: "a", tool: "t@1.0.0", sessionId: "s", caller: "c", input: { [name]: value } };
  const wider = widerOf(at, value).filter(({ condition }) => patternFault(asked, [condition]) === undefined);
  return [exact, ...wider, anyValue];
}

/** Wider than one value, narrower than any: smaller numbers, the host of an address, the folder of a path. */
function widerOf(at: string, value: JsonValue): readonly ArgumentChoice[] {
  if (typeof value === "number") return [{ id: "at-most", text: `At most ${value}`, condition: { at, atMost: value } }];
  if (typeof value !== "string") return [];
  const host = /^https?:/i.test(value) ? parseUrl(value)?.hostname : undefined;
  if (host !== undefined) return [{ id: "host", text: `Any address on ${host}`, condition: { at, hostIn: [host] } }];
  const folder = value.slice(0, Math.max(0, value.lastIndexOf("/")));
  return [{ id: "folder", text: `Anything in ${folder}/`, condition: { at, pathIn: [`${folder}/**`] } }];
}

function shortOf(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
