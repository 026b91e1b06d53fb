import { canonicalJson } from "../../../json/canonical-json.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../../../json/json.ts";
import { foldText, numbersAtStart } from "../../../support/fold.ts";
import { placeReadings } from "../../decision/place-readings.ts";
import type { ArgumentCondition } from "../../document/policy.ts";
import { globPaths } from "./glob-values.ts";
import type { Operand, OperatorName } from "./operators.ts";
import { distinct, globValues, hostValues, otherLetters, unmentioned } from "./patterns.ts";

/** The values that the conditions on one argument mention. */
interface Material {
  readonly values?: readonly JsonValue[];
  readonly numbers?: readonly number[];
  readonly lengths?: readonly number[];
  readonly starts?: readonly string[];
  readonly ends?: readonly string[];
  readonly parts?: readonly string[];
  readonly hosts?: readonly string[];
  readonly globs?: readonly string[];
}

const limit = (number: number): Material => ({ numbers: [number] });
const listOf = (values: readonly JsonValue[]): Material => ({
  values,
  numbers: values.filter((each) => typeof each === "number"),
});

/** A deny finds a text in each of its readings as a place. */
const meaningsOf = (text: string): readonly string[] =>
  [text, ...(placeReadings(text) ?? [])].filter((each) => each !== "");

/** A new operator does not compile without its row. */
const materials = {
  exists: () => ({}),
  equals: (value) => listOf([value]),
  differs: (value) => listOf([value]),
  in: listOf,
  notIn: listOf,
  lessThan: limit,
  atMost: limit,
  moreThan: limit,
  atLeast: limit,
  longerThan: (length) => ({ lengths: [length] }),
  startsWith: (text) => ({ starts: meaningsOf(text) }),
  endsWith: (text) => ({ ends: meaningsOf(text) }),
  contains: (text) => ({ parts: meaningsOf(text) }),
  hostIn: (hosts) => ({ hosts }),
  hostNotIn: (hosts) => ({ hosts }),
  pathIn: (globs) => ({ globs }),
  pathNotIn: (globs) => ({ globs }),
} satisfies { readonly [Name in OperatorName]: (operand: Operand<Name>) => Material };

function materialOf(conditions: readonly ArgumentCondition[]): Required<Material> {
  const all = conditions.flatMap((condition): readonly Material[] =>
    Object.entries(materials).flatMap(([name, read]) => {
      const operand: unknown = new Map<string, unknown>(Object.entries(condition)).get(name);
      // The document's schema has seen the operand of each operator.
      return operand === undefined ? [] : [(read as (operand: unknown) => Material)(operand)];
    }),
  );
  const gather = <T>(read: (material: Material) => readonly T[] | undefined): readonly T[] =>
    distinct(all.flatMap((each) => read(each) ?? []));
  return {
    values: gather(({ values }) => values),
    numbers: gather(({ numbers }) => numbers).toSorted((a, b) => a - b),
    lengths: gather(({ lengths }) => lengths),
    starts: gather(({ starts }) => starts),
    ends: gather(({ ends }) => ends),
    parts: gather(({ parts }) => parts),
    hosts: gather(({ hosts }) => hosts),
    globs: gather(({ globs }) => globs),
  };
}

/** Of both cases. */
const mostParts = 10;
const mostItems = 6;
const mostTexts = 5_000;
const mostLength = 100_000;

/** Whether the values reach every combination of what the conditions say. */
export function areWholeArguments(conditions: readonly ArgumentCondition[]): boolean {
  const { starts, ends, parts, hosts, globs, lengths } = materialOf(conditions);
  const affixes = [...starts, ...ends, ...parts];
  const families = [affixes, hosts, globs, lengths].filter((each) => each.length > 0).length;
  const combinations = (2 * starts.length + 1) * (2 * ends.length + 1) * 2 ** Math.min(2 * parts.length, mostParts);
  return (
    families <= 1 &&
    2 * parts.length <= mostParts &&
    combinations <= mostTexts &&
    globPaths(globs).isWhole &&
    lengths.every((each) => each < mostLength)
  );
}

/**
 * Values of one argument on both sides of each boundary, short ones first: a size that counts can be more than the shortest value of a class, and never less.
 * `undefined` is the argument that is absent.
 */
export function argumentValues(
  conditions: readonly ArgumentCondition[],
  amounts: readonly number[],
): readonly (JsonValue | undefined)[] {
  const material = materialOf(conditions);
  const texts = textValues(material);
  const all: readonly JsonValue[] = [
    unmentioned,
    ...short,
    ...material.values.flatMap((value) => [value, ...alike(value)]),
    ...numberValues(distinct([...material.numbers, ...amounts]).toSorted((a, b) => a - b)),
    ...texts,
    ...lengthValues(material.lengths, texts),
    ...itemValues(material.parts),
    ...hostTexts(material),
    ...pathTexts(material),
    null,
    true,
    "",
    {},
    [],
  ];
  return [undefined, ...all.toSorted((a, b) => sizeOf(a) - sizeOf(b))];
}

/** Texts that are hosts and paths, too. */
const short = ["~", "x", "x.y", "x/y"];

const sizeOf = (value: JsonValue): number =>
  typeof value === "string" ? value.length + 2 : canonicalJson(value).length;

/** Values that some reader treats as the same: also the number, the boolean and the null of a text, and the other way round. */
function alike(value: JsonValue): readonly JsonValue[] {
  if (typeof value === "string")
    return [
      ...meaningsOf(value).flatMap((each) => [otherLetters(each), each]),
      `${value}\u00ad`,
      `${value}x`,
      ...simpleIn(value),
      [value],
    ];
  if (isJsonArray(value)) return [value.map((each) => alike(each)[0] ?? each), [...value, unmentioned]];
  if (isJsonObject(value))
    return [
      Object.fromEntries(Object.entries(value).map(([name, each]) => [name, alike(each)[0] ?? each])),
      { ...value, [unmentioned]: null },
    ];
  const text = String(value);
  return [text, `${text}\u00ad`, [value], ...(typeof value === "number" ? [`${text} x`] : [])];
}

/** The simple value that a text writes. */
function simpleIn(text: string): readonly JsonValue[] {
  const folded = foldText(text);
  const words = new Map<string, JsonValue>([
    ["true", true],
    ["false", false],
    ["null", null],
  ]);
  const word = words.get(folded);
  const numbers = [folded, ...numbersAtStart(folded)].map((each) => (/\d/.test(each) ? Number(each) : Number.NaN));
  return [...(word === undefined ? [] : [word]), ...numbers.filter((each) => Number.isFinite(each))];
}

/** Each boundary, and a number between each two. */
function numberValues(numbers: readonly number[]): readonly number[] {
  const first = numbers[0] ?? 0;
  const last = numbers.at(-1) ?? 0;
  const between = numbers.slice(1).map((each, at) => (each + (numbers[at] ?? each)) / 2);
  return distinct([...numbers, ...between, below(first), -below(-last), -1].filter((each) => Number.isFinite(each)));
}

const below = (number: number): number => (number - 1 < number ? number - 1 : number - Math.abs(number) * 2 ** -52);

function textValues({ starts, ends, parts }: Required<Material>): readonly string[] {
  if (starts.length + ends.length + parts.length === 0) return [];
  const mentioned = [...starts, ...ends, ...parts].join("");
  const fill = Array.from("~_#0").find((each) => !mentioned.includes(each)) ?? "~";
  const inBoth = parts.length * 2 <= mostParts ? bothCases(parts) : parts;
  const some = inBoth
    .slice(0, mostParts)
    .reduce<readonly (readonly string[])[]>((known, each) => [...known, ...known.map((list) => [...list, each])], [[]]);
  const chosen = inBoth.length > mostParts ? [...some, ...inBoth.map((each) => [each])] : some;
  const texts = ["", ...bothCases(starts)].flatMap((start) =>
    chosen.flatMap((list) =>
      ["", ...bothCases(ends)].map((end) => [start, ...list, end].filter((each) => each !== "").join(fill)),
    ),
  );
  // Open at the side without a demand.
  return distinct(
    texts.slice(0, mostTexts).flatMap((text) => [
      text,
      `${fill}${text}${fill}`,
      `${text}${fill}`,
      `${fill}${text}`,
      otherLetters(text),
      `${fill}${otherLetters(text)}${fill}`,
      // Another number than the one that a reader finds before other letters.
      ...(/\d$/.test(text) ? [`${text}1`] : []),
    ]),
  );
}

function lengthValues(lengths: readonly number[], texts: readonly string[]): readonly JsonValue[] {
  const sizes = distinct(lengths.filter((each) => each < mostLength).flatMap((each) => [each, each + 1]));
  return sizes.flatMap((size) => [
    "~".repeat(size),
    Array.from({ length: size }, () => 0),
    ...texts.filter((text) => text.length < size).map((text) => text.padEnd(size, "~")),
  ]);
}

/** A deny reads other letters as the same. */
const bothCases = (texts: readonly string[]): readonly string[] => distinct([...texts, ...texts.map(otherLetters)]);

/** An array holds several texts at once. */
function itemValues(parts: readonly string[]): readonly JsonValue[] {
  const some = parts
    .slice(0, mostItems)
    .reduce<readonly (readonly string[])[]>((known, each) => [...known, ...known.map((list) => [...list, each])], [[]]);
  return [...some, ...parts.map((each) => [each]), ...parts.map((each) => [otherLetters(each)])];
}

function hostTexts({ hosts, starts, ends, parts }: Required<Material>): readonly string[] {
  if (hosts.length === 0) return [];
  return hostValues(hosts).flatMap((host) => [
    host,
    ...distinct(["https://", ...starts]).flatMap((start) =>
      ["", ...ends, ...parts].map((end) => `${start}${host}/${end}`),
    ),
  ]);
}

function pathTexts({ globs, starts, ends, parts }: Required<Material>): readonly string[] {
  if (globs.length === 0) return [];
  return globValues(globs).flatMap((path) => [
    path,
    ...[...ends, ...parts].flatMap((end) => [`${path}${end}`, `${path}/${end}`]),
    ...starts.flatMap((start) => [`${start}${path}`, `${start}/${path}`]),
  ]);
}
