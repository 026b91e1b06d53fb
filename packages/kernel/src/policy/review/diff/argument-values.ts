import { foldText } from "../../../support/fold.ts";
import { canonicalJson } from "../../../json/canonical-json.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../../../json/json.ts";
import { isScalar } from "../../decision/folds.ts";
import { literalsOf } from "../../decision/literals.ts";
import { kindOf } from "../../decision/plain-text.ts";
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
  startsWith: (text) => ({ starts: [text] }),
  endsWith: (text) => ({ ends: [text] }),
  contains: (text) => ({ parts: [text] }),
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
  const kinds = distinct(conditions.flatMap(literalsOf).map(([, kind]) => kind));
  const families = [affixes, hosts, globs, lengths].filter((each) => each.length > 0).length;
  const combinations = (2 * starts.length + 1) * (2 * ends.length + 1) * 2 ** Math.min(2 * parts.length, mostParts);
  return (
    families <= 1 &&
    // Each kind has a plain form of its own, and a text can have one and not the other.
    (affixes.length === 0 || kinds.length <= 1) &&
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
    ...notPlain,
    ...material.values.flatMap((value) => [value, ...alike(value)]),
    ...numberValues(distinct([...material.numbers, ...amounts]).toSorted((a, b) => a - b)),
    ...texts,
    ...lengthValues(material, texts),
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
/** Plain in no kind, in no number, in no path, in neither. No URL is plain as a path. */
const notPlain = ["\u0001", "0x", "x//y", "0//y", "https://x.y/"];

const sizeOf = (value: JsonValue): number => canonicalJson(value).length;

/** Values with one key: also the number, the boolean and the null of a text, and the other way round. And what is not plain beside them. */
function alike(value: JsonValue): readonly JsonValue[] {
  if (typeof value === "string") {
    const split = `${value.slice(0, 1)}\u00ad${value.slice(1)}`;
    return [
      otherLetters(value),
      `${value} `,
      ` ${value}`,
      split,
      `${value}x`,
      `${value}\u0001`,
      ...simpleIn(value),
      [value],
    ];
  }
  if (isJsonArray(value)) return [value.map((each) => alike(each)[0] ?? each), [...value, unmentioned]];
  if (isJsonObject(value))
    return [
      Object.fromEntries(Object.entries(value).map(([name, each]) => [name, alike(each)[0] ?? each])),
      { ...value, [unmentioned]: null },
    ];
  const text = String(value);
  return [text, `${text} `, [value], ...(typeof value === "number" ? [`${text}x`] : [])];
}

const words = new Map<string, JsonValue>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** The simple value that a text writes. */
function simpleIn(text: string): readonly JsonValue[] {
  const word = words.get(foldText(text));
  return [...(word === undefined ? [] : [word]), ...(kindOf(text) === "number" ? [Number(text)] : [])];
}

/** Each boundary, a number between each two, and those that JSON has rounded. */
function numberValues(numbers: readonly number[]): readonly number[] {
  const first = numbers[0] ?? 0;
  const last = numbers.at(-1) ?? 0;
  const between = numbers.slice(1).map((each, at) => (each + (numbers[at] ?? each)) / 2);
  const all = [...numbers, ...between, below(first), -below(-last), -1, 1e21, -1e21];
  return distinct(all.filter((each) => Number.isFinite(each)));
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
  const lists = ["", ...bothCases(starts), ...nested(starts)].flatMap((start) =>
    chosen.flatMap((list) =>
      ["", ...bothCases(ends), ...nested(ends)].map((end) => [start, ...list, end].filter((each) => each !== "")),
    ),
  );
  // Open at the side without a demand. The other fill is not plain.
  return distinct(
    lists.slice(0, mostTexts).flatMap((list) =>
      [fill, "\u0001"].flatMap((each) => {
        const text = list.join(each);
        return [text, `${each}${text}${each}`, `${text}${each}`, `${each}${text}`];
      }),
    ),
  );
}

/** The letters of one text as written, and the rest of a longer one in others. A key of a folder has no slash at its end. */
function nested(texts: readonly string[]): readonly string[] {
  return texts.flatMap((one) => [
    one.replace(/[/\\]$/, ""),
    ...texts.flatMap((other) => {
      const [before, after, ...more] = other === one ? [] : other.split(one);
      return before === undefined || after === undefined || more.length > 0
        ? []
        : [`${otherLetters(before)}${one}${otherLetters(after)}`];
    }),
  ]);
}

/** Spaces at the end of a text are no part of its key. */
function lengthValues({ lengths, values }: Required<Material>, texts: readonly string[]): readonly JsonValue[] {
  const sizes = distinct(lengths.filter((each) => each < mostLength).flatMap((each) => [each, each + 1]));
  const written = values.flatMap((each) => (isScalar(each) ? [String(each)] : []));
  return sizes.flatMap((size) => [
    "~".repeat(size),
    Array.from({ length: size }, () => 0),
    ...texts.map((text) => text.padEnd(size, "~")),
    ...written.map((text) => text.padEnd(size)),
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
