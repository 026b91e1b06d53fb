import { canonicalJson, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";

export interface Merged {
  readonly document: JsonObject;
  /** Members that both sides changed, in different ways. The draft's stands. */
  readonly conflicts: readonly string[];
}

/**
 * Puts what another changed into a draft: both began with `base`. Grants differ by their content, rules by their id, other members by their name.
 */
export function mergePolicies(base: JsonObject, mine: JsonObject, theirs: JsonObject): Merged {
  const conflicts: string[] = [];
  const names = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
  const members = Array.from(names, (name): readonly [string, JsonValue | undefined] => {
    const [before, own, other] = [base, mine, theirs].map((each) => memberOf(each, name));
    const keyOf = listKeys.get(name);
    if (keyOf !== undefined) return [name, mergeLists(name, keyOf, [before, own, other], conflicts)];
    return [name, choose(name, [before, own, other], conflicts)];
  });
  return {
    document: Object.fromEntries(members.filter((each): each is readonly [string, JsonValue] => each[1] !== undefined)),
    conflicts,
  };
}

type Three = readonly (JsonValue | undefined)[];

const listKeys: ReadonlyMap<string, (item: JsonValue) => string> = new Map([
  ["grants", canonicalJson],
  [
    "rules",
    (item: JsonValue) => (isJsonObject(item) && typeof item["id"] === "string" ? item["id"] : canonicalJson(item)),
  ],
]);

function choose(what: string, [before, mine, theirs]: Three, conflicts: string[]): JsonValue | undefined {
  if (isSame(theirs, before) || isSame(mine, theirs)) return mine;
  if (isSame(mine, before)) return theirs;
  conflicts.push(what);
  return mine;
}

function mergeLists(
  name: string,
  keyOf: (item: JsonValue) => string,
  [before, mine, theirs]: Three,
  conflicts: string[],
): JsonValue | undefined {
  if (mine === undefined && theirs === undefined) return undefined;
  const byKey = (list: JsonValue | undefined) => new Map(itemsOf(list).map((item) => [keyOf(item), item]));
  const [base, own, other] = [byKey(before), byKey(mine), byKey(theirs)];
  const keys = [...own.keys(), ...[...other.keys()].filter((key) => !own.has(key))];
  return keys.flatMap((key) => {
    const chosen = choose(`${name} ${key}`, [base.get(key), own.get(key), other.get(key)], conflicts);
    return chosen === undefined ? [] : [chosen];
  });
}

function memberOf(document: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(document, name) ? document[name] : undefined;
}

function itemsOf(list: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(list) ? list : [];
}

function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
