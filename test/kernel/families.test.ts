import { statementKinds } from "@keyhole/kernel";
import * as families from "@keyhole/kernel/families";
import fc from "fast-check";
import { expect, it } from "vitest";
import { describeFamily, type FamilySubject } from "../contract/family.ts";
import { mqttPublish } from "./families/mqtt-publish.ts";

const some = <T>(...values: T[]): fc.Arbitrary<T[]> => fc.subarray(values, { minLength: 1 });
const amount = fc.option(fc.nat(40), { nil: undefined });
/** Of what is optional nothing is there, in place of `undefined`. */
const plain = <T extends object>(given: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  given.map((each) => JSON.parse(JSON.stringify(each)) as T);

const hosts = some("example.com", "*.example.com", "*", "127.0.0.1", "a.example.com");
const host = fc.constantFrom("example.com", "a.example.com", "127.0.0.1", "localhost", "other.org");
const prefixes = some("/", "/api", "/api/v1");
const globs = some("**", "docs/**", "docs/*", "docs/a", "Docs/**");
const names = some("*", "shop_*", "shop_eu", "payroll");
const name = fc.constantFrom("shop_eu", "shop_us", "payroll");
const keys = some("*", "users/", "users/a", "");

function net(family: families.Family): FamilySubject {
  const { kind } = family;
  const [own, other] =
    kind === "net.write" ? (["POST", "HEAD"] as const) : (["GET", kind === "net.read" ? "POST" : "get"] as const);
  const methods = some(own, kind === "net.write" ? "DELETE" : "HEAD");
  return {
    family,
    capabilities: plain(
      fc.record(
        {
          kind: fc.constant(kind),
          hosts,
          ports: some(80, 443, 8080),
          paths: prefixes,
          methods,
          requests: amount,
        },
        { requiredKeys: ["kind", "hosts"] },
      ),
    ),
    needs: fc.record({
      kind: fc.constant(kind),
      method: fc.constantFrom("GET", "HEAD", "POST"),
      host,
      isPublic: fc.boolean(),
      port: fc.constantFrom(80, 443, 8080),
      path: fc.constantFrom("/", "/api", "/api/v1/x", "/API", "/a/%2e%2e/api", "/other"),
    }),
    wrong: [
      { kind, hosts: ["a b"] },
      { kind, hosts: ["example.com"], paths: ["api"] },
      // A method of the other kind of the network.
      { kind, hosts: ["example.com"], methods: [own, other] },
    ],
    conditions: {
      host: { patterns: hosts, value: "example.com" },
      path: { patterns: prefixes, value: "/api" },
      method: { patterns: some("GET", "POST"), value: "GET" },
    },
  };
}

/** The same places as of the network, with a count of documents. */
function page(family: families.Family): FamilySubject {
  const subject = net(family);
  return {
    ...subject,
    needs: fc
      .tuple(subject.needs, amount)
      .map(([need, navigation]) => ({ ...need, ...(navigation && { navigation }) })),
    wrong: [...subject.wrong, { kind: family.kind, hosts: ["*"], navigations: -1 }],
  };
}

function files(family: families.Family): FamilySubject {
  const { kind } = family;
  return {
    family,
    capabilities: plain(
      fc.record(
        { kind: fc.constant(kind), paths: globs, except: globs, fileBytes: amount },
        { requiredKeys: ["kind", "paths"] },
      ),
    ),
    needs: plain(
      fc.record({
        kind: fc.constant(kind),
        path: fc.constantFrom("docs/a", "docs/b/c", "DOCS/a", "src/x"),
        bytes: amount,
      }),
    ),
    wrong: [{ kind, paths: ["/a"] }, { kind, paths: ["a"], except: ["../b"] }], // prettier-ignore
    conditions: { path: { patterns: globs, value: "docs/a" } },
  };
}

function database(family: families.Family): FamilySubject {
  const { kind } = family;
  const reads = kind === "db.read";
  return {
    family,
    capabilities: plain(
      fc.record(
        {
          kind: fc.constant(kind),
          databases: names,
          statements: reads ? some("select") : some(...statementKinds),
          rows: amount,
        },
        { requiredKeys: ["kind", "databases"] },
      ),
    ),
    needs: fc.record({
      kind: fc.constant(kind),
      database: name,
      statements: reads ? some("select") : some("insert", "drop"),
    }),
    wrong: [{ kind, databases: ["a*b"] }, ...(reads ? [{ kind, databases: ["a"], statements: ["drop"] }] : [])],
    conditions: { database: { patterns: names, value: "shop_eu" } },
  };
}

function values(family: families.Family): FamilySubject {
  const { kind } = family;
  return {
    family,
    capabilities: plain(
      fc.record({ kind: fc.constant(kind), keys, valueBytes: amount }, { requiredKeys: ["kind", "keys"] }),
    ),
    needs: plain(
      fc.record({
        kind: fc.constant(kind),
        key: fc.constantFrom("users/a", "users", "x", ""),
        lists: fc.boolean(),
        bytes: amount,
      }),
    ),
    wrong: [{ kind, keys: ["a*"] }],
    conditions: { key: { patterns: keys, value: "users/a" } },
  };
}

const source = (family: families.Family): FamilySubject => ({
  family,
  capabilities: fc.constant({ kind: family.kind }),
  needs: fc.constant({ kind: family.kind }),
  wrong: [],
  conditions: {},
});

const commands = fc.constantFrom(
  [{ command: "git", args: ["log"] }],
  [{ command: "git", args: [{ rest: { prefix: "" } }] }, { command: "ls" }],
);
const secretNames = some("*", "api_*", "api_key");
const topics = some("sensors/#", "sensors/a", "Alarms/#", "alarms/a");

const subjects: readonly FamilySubject[] = [
  ...[families.netRead, families.netWrite].map(net),
  page(families.browserPage),
  ...[families.fsRead, families.fsWrite].map(files),
  ...[families.dbRead, families.dbWrite].map(database),
  ...[families.kvRead, families.kvWrite].map(values),
  {
    family: families.processSpawn,
    capabilities: fc.record({ kind: fc.constant("process.spawn"), commands }),
    needs: fc.record({
      kind: fc.constant("process.spawn"),
      command: fc.constantFrom("git", "ls"),
      args: fc.array(fc.constantFrom("log", "-n", "--output=x"), { maxLength: 2 }),
    }),
    wrong: [{ kind: "process.spawn", commands: [{ command: "a/b" }] }],
    conditions: { command: { patterns: some("git", "ls"), value: "git" } },
    secret: { need: { kind: "process.spawn", command: "git", args: ["hunter2"] }, text: "hunter2" },
  },
  {
    family: families.toolCall,
    capabilities: fc.record({ kind: fc.constant("tool.call"), tools: names }),
    needs: fc.record({ kind: fc.constant("tool.call"), tool: name }),
    wrong: [{ kind: "tool.call", tools: ["a b"] }],
    conditions: { calls: { patterns: names, value: "shop_eu" } },
  },
  {
    family: families.secretUse,
    capabilities: fc.record({ kind: fc.constant("secret.use"), names: secretNames, hosts }),
    needs: fc.record({
      kind: fc.constant("secret.use"),
      name: fc.constantFrom("api_key", "API-KEY", "root"),
      host,
      isPublic: fc.boolean(),
    }),
    wrong: [{ kind: "secret.use", names: ["a.b"], hosts: ["example.com"] }],
    conditions: {
      host: { patterns: hosts, value: "example.com" },
      secret: { patterns: secretNames, value: "api_key" },
    },
  },
  ...[families.clock, families.random].map(source),
  {
    family: mqttPublish,
    capabilities: plain(
      fc.record({ kind: fc.constant("mqtt.publish"), topics, messages: amount }, { requiredKeys: ["kind", "topics"] }),
    ),
    needs: fc.record({
      kind: fc.constant("mqtt.publish"),
      topic: fc.constantFrom("sensors/a", "SENSORS/a", "alarms/b", "alarms/a", "x"),
    }),
    wrong: [{ kind: "mqtt.publish", topics: ["#"] }, { kind: "mqtt.publish", topics: ["a/#/b"] }], // prettier-ignore
    conditions: { topic: { patterns: topics, value: "sensors/a" } },
  },
];

it("every family of the kernel passes the contract", () => {
  const tested = new Set(subjects.map(({ family }) => family));
  expect([...families.builtInFamilies].filter((each) => !tested.has(each))).toEqual([]);
});

for (const subject of subjects) describeFamily(subject);
