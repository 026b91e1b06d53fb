import type {
  ArgumentCondition,
  Capability,
  GrantRule,
  JsonValue,
  PolicyDocument,
  PolicyRule,
  ToolGovernance,
} from "@keyhole/kernel";
import fc from "fast-check";
import { counterOf, type Draft, mildest } from "../../../packages/kernel/src/policy/review/diff/draft.ts";

/*
 * Random policies that say of few values many things, and random calls of those values and their neighbours. The calls are made here, not by what is tested.
 */

const tools = ["pay", "read", "send"] as const;
const callers = ["ada", "eve"] as const;
const texts = ["a", "ab", "AB", "b*", "abc"] as const;
const hosts = ["a.example", "*.a.example", "x.a.example", "*"] as const;
const globs = ["a/**", "a/b/*", "**/*.md", "a/b.md", "**/b.md", "*/b.md"] as const;
const prefixes = ["/a", "/a/b", "/"] as const;
const kinds = ["net.read", "fs.write", "kv.read"] as const;

const some = <T>(values: readonly T[]): fc.Arbitrary<T[]> =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 3 });
const rarely = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 6 }, { arbitrary: value, weight: 1 });
type Given<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};
const given = <T extends object>(value: T): Given<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Given<T>;

const number = fc.integer({ min: 0, max: 3 });
const text = fc.constantFrom(...texts);
const argument: fc.Arbitrary<ArgumentCondition> = fc.oneof(
  number.map((equals) => ({ at: "/amount", equals })),
  number.map((differs) => ({ at: "/amount", differs })),
  number.map((moreThan) => ({ at: "/amount", moreThan })),
  number.map((atMost) => ({ at: "/amount", atMost })),
  fc.boolean().map((exists) => ({ at: "/note", exists })),
  some(texts).map((values) => ({ at: "/note", in: values })),
  some(texts).map((values) => ({ at: "/note", notIn: values })),
  text.map((startsWith) => ({ at: "/note", startsWith })),
  text.map((endsWith) => ({ at: "/note", endsWith })),
  text.map((contains) => ({ at: "/note", contains })),
  some(hosts).map((hostIn) => ({ at: "/url", hostIn })),
  some(hosts).map((hostNotIn) => ({ at: "/url", hostNotIn })),
  some(globs).map((pathIn) => ({ at: "/file", pathIn })),
  some(globs).map((pathNotIn) => ({ at: "/file", pathNotIn })),
  number.map((longerThan) => ({ at: "/tags", longerThan })),
);
const hour = 3_600_000;
const when = fc
  .record({
    tool: maybe(some(tools)),
    caller: rarely(some(callers)),
    tier: rarely(some([0, 1, 2, 3, 4] as const)),
    risk: rarely(some(["low", "high"] as const)),
    mode: rarely(some(["NORMAL", "ALERT", "LOCKDOWN"] as const)),
    session: rarely(fc.constant(["s"])),
    category: rarely(fc.constant(["web"])),
    version: rarely(fc.constantFrom("^1.2.0", "2.x", "1.2.3")),
    effects: rarely(some(kinds)),
    capability: rarely(some(kinds)),
    labels: rarely(some(["secret", "pii"])),
    time: rarely(
      fc.constantFrom({ days: ["mon" as const] }, { from: "09:00", to: "17:00" }, { after: "2026-02-01T00:00:00Z" }),
    ),
    arguments: maybe(fc.array(argument, { minLength: 1, maxLength: 2 })),
    count: rarely(fc.record({ windowMs: fc.constant(hour), moreThan: number })),
  })
  .map(given);
const requestWhen = fc
  .record({
    tool: maybe(some(tools)),
    host: maybe(some(hosts)),
    path: maybe(fc.oneof(some(prefixes), some(globs))),
    method: rarely(fc.constant(["GET"])),
  })
  .map(given)
  .filter(({ host, path, method }) => (host ?? path ?? method) !== undefined);
const rule: fc.Arbitrary<Omit<PolicyRule, "id">> = fc.oneof(
  {
    arbitrary: fc.record({ effect: fc.constantFrom("allow", "ask", "deny"), when, reason: fc.constant("x") }),
    weight: 4,
  },
  {
    arbitrary: fc.record({ effect: fc.constant("deny" as const), when: requestWhen, reason: fc.constant("x") }),
    weight: 1,
  },
);
const capability: fc.Arbitrary<Capability> = fc.oneof(
  fc
    .record({
      kind: fc.constant("net.read" as const),
      hosts: some(hosts),
      paths: maybe(some(prefixes)),
      requests: rarely(number),
      ports: rarely(fc.constant([8_080])),
    })
    .map(given),
  fc
    .record({
      kind: fc.constant("fs.write" as const),
      paths: some(globs),
      except: rarely(some(globs)),
      fileBytes: rarely(number),
    })
    .map(given),
  fc.record({ kind: fc.constant("kv.read" as const), keys: some(["a", "ab", "*"]) }),
);
const grant: fc.Arbitrary<GrantRule> = fc
  .record({ tool: fc.constantFrom("*", ...tools), caller: rarely(fc.constantFrom(...callers)), capability })
  .map(given);
const governance: fc.Arbitrary<ToolGovernance> = fc
  .record({
    modes: rarely(fc.constantFrom({ forbidden: ["ALERT" as const] }, { lockdown: "ask" as const })),
    sizes: rarely(fc.record({ inputBytes: fc.constantFrom(20, 60), fileBytes: number })),
    hosts: rarely(fc.record({ allowed: some(hosts) })),
    rate: rarely(fc.record({ calls: number.map((each) => each + 1), windowMs: fc.constant(hour) })),
  })
  .map(given);

const document: fc.Arbitrary<PolicyDocument> = fc
  .record({
    version: fc.constant("1" as const),
    posture: fc.constantFrom("strict", "standard", "permissive"),
    enforcement: rarely(fc.constant("observe" as const)),
    grants: fc.array(grant, { maxLength: 3 }),
    rules: fc.array(rule, { maxLength: 5 }).map((rules) => rules.map((each, index) => ({ id: `r${index}`, ...each }))),
    tools: rarely(governance.map((pay) => ({ pay }))),
    labels: fc.constant({ secret: {}, pii: {} }),
  })
  .map(given);

/** Two policies: strangers, or one after a change. */
export const pairs: fc.Arbitrary<readonly [PolicyDocument, PolicyDocument]> = fc.oneof(
  fc.tuple(document, document),
  fc.tuple(document, rule, fc.nat(5)).map(([before, changed, at]): [PolicyDocument, PolicyDocument] => {
    const rules = before.rules ?? [];
    return [before, { ...before, rules: [...rules.filter((_, index) => index !== at), { id: "changed", ...changed }] }];
  }),
  fc
    .tuple(document, grant)
    .map(([before, added]): [PolicyDocument, PolicyDocument] => [
      before,
      { ...before, grants: [...(before.grants ?? []), added] },
    ]),
);

type Random = (below: number) => number;
const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)]!;

const hostNames = ["a.example", "x.a.example", "y.a.example", "b.example", "10.0.0.1"];
const paths = ["a", "a/b", "a/b/c", "a/b.md", "b.md", "a/c/b.md", "c.md", "z", "A/B.md"];

function randomArguments(random: Random): ReadonlyMap<string, JsonValue> {
  const values: Readonly<Record<string, readonly JsonValue[]>> = {
    "/amount": [0, 1, 2, 3, 4, 0.5, "1", "x", null],
    "/note": ["a", "A", "ab", "abc", "xab", "abx", "b*", "", 1, "zzz"],
    "/url": [...hostNames, "https://x.a.example/p", "no host", 1],
    "/file": [...paths, "../x", 2],
    "/tags": [[], [1], [1, 2], [1, 2, 3], "abcd", 4],
  };
  return new Map(
    Object.entries(values).flatMap(([pointer, list]) =>
      random(2) === 0 ? [[pointer, pick(random, list)] as const] : [],
    ),
  );
}

/** Made once: a request is loaded by its identity. */
const requests: Readonly<Record<string, readonly Draft["request"][]>> = {
  none: [undefined],
  net: ["GET", "HEAD"].flatMap((method) =>
    hostNames.flatMap((host) =>
      [true, true, false].flatMap((isPublic) =>
        [443, 8_080, 9].flatMap((port) =>
          ["/", "/a", "/a/b", "/a/b/c", "/ab", "/A", "/c"].map((path) => {
            return { kind: "net.read", method, host, isPublic, port, path };
          }),
        ),
      ),
    ),
  ),
  files: paths.flatMap((path) =>
    [undefined, 0, 1, 2, 3, 4].map((bytes) => ({ kind: "fs.write", path, ...(bytes !== undefined && { bytes }) })),
  ),
  keys: ["a", "ab", "abc", "b"].flatMap((key) => [
    { kind: "kv.read", key },
    { kind: "kv.read", key, lists: true },
  ]),
};

const randomRequest = (random: Random): Draft["request"] =>
  pick(random, requests[pick(random, ["none", "none", "net", "files", "keys"])]!);

/** A call about which some of the policies may differ. */
export function randomCall(random: Random, documents: readonly PolicyDocument[]): Draft {
  const request = randomRequest(random);
  const counters = documents.flatMap(({ rules = [], tools: governed = {} }) => [
    ...rules.flatMap((each) => (each.when.count ? [each.when] : [])),
    ...Object.entries(governed).flatMap(([tool, { rate }]) =>
      rate ? [{ tool: [tool], count: { windowMs: rate.windowMs, moreThan: rate.calls } }] : [],
    ),
  ]);
  return {
    ...mildest,
    tool: pick(random, [...tools, "other"]),
    caller: pick(random, [...callers, "bob"]),
    tier: pick(random, [0, 1, 2, 3, 4] as const),
    ...(random(2) === 0 && { risk: pick(random, ["low", "high", "medium"] as const) }),
    ...(random(2) === 0 && { category: pick(random, ["web", "files"]) }),
    mode: pick(random, ["NORMAL", "NORMAL", "ALERT", "DEGRADED", "LOCKDOWN", "RECOVERY"] as const),
    session: pick(random, ["s", "t"]),
    version: pick(random, ["1.2.3", "1.3.0", "1.0.0", "2.0.0-x", "2.1.0", "1.2.4-a"]),
    kinds: new Map(
      kinds.flatMap((kind) =>
        random(3) === 0 ? [[kind, pick(random, ["listed", "declared"] as const)] as const] : [],
      ),
    ),
    labels: new Set(["secret", "pii"].filter(() => random(3) === 0)),
    arguments: randomArguments(random),
    nowMs: pick(random, [
      Date.UTC(2026, 0, 1, 3),
      Date.UTC(2026, 0, 5, 10),
      Date.UTC(2026, 2, 2, 9),
      Date.UTC(2026, 1, 3, 17),
    ]),
    inputBytes: pick(random, [0, 0, 21, 61]),
    counts: new Map(counters.map((each) => [counterOf(each), random(5)])),
    ...(request && { request }),
  };
}
