import {
  type ArgumentPattern,
  type Capability,
  checkKey,
  checkName,
  type CommandPattern,
  policy,
  matchCommand,
  matchKey,
  matchName,
  type Need,
} from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { covers, grantOf } from "../support/grants.ts";

const long = "a".repeat(100_000);
const nul = "a\u0000b";
const lone = "a\ud800";
const overrides = "a\u202eb";

describe("an argument of a command", () => {
  const fits = (pattern: ArgumentPattern, argument: string): boolean =>
    matchCommand({ command: "x", args: [pattern] }, "x", [argument]);

  it.each<[ArgumentPattern, string]>([
    ["status", "status"],
    [{ oneOf: ["-a", "-b"] }, "-b"],
    [{ prefix: "--format=" }, "--format=%h"],
    [{ prefix: "--since=" }, "--since=-2"],
    [{ prefix: "src/" }, "src/a..b"],
    [{ prefix: "" }, "a line\nand another"],
    [{ prefix: "" }, ""],
    [{ path: ["src/**"] }, "src/a/b.ts"],
    [{ number: {} }, "0"],
    [{ number: { max: 10 } }, "10"],
    [{ number: { min: -5 } }, "-5"],
  ])("%j takes %j", (pattern, argument) => {
    expect(fits(pattern, argument)).toBe(true);
  });

  it.each<[ArgumentPattern, string]>([
    ["status", "Status"],
    ["status", "status "],
    ["status", ""],
    ["\u00e9", "e\u0301"],
    [{ oneOf: ["-a"] }, "-A"],
    [{ oneOf: ["-a"] }, "-a=1"],
    [{ prefix: "--format=" }, "--format"],
    [{ prefix: "--format=" }, "--Format=x"],
    [{ prefix: "--data=" }, "--data=@/etc/passwd"],
    [{ prefix: "--file=" }, "--file=../x"],
    [{ prefix: "--file=" }, "--file=a/../../x"],
    [{ prefix: "src/" }, "src/../secret"],
    [{ prefix: "src/" }, "src/.."],
    [{ prefix: "src\\" }, "src\\..\\x"],
    [{ prefix: "host:" }, "host:../x"],
    [{ prefix: "" }, "-c"],
    [{ prefix: "" }, "--upload-pack=touch x"],
    [{ prefix: "" }, "--"],
    [{ prefix: "" }, "@file"],
    [{ prefix: "" }, "/x"],
    [{ prefix: "" }, "\\server\\share"],
    [{ prefix: "" }, "C:secret"],
    [{ prefix: "" }, "\uff0fx"],
    [{ prefix: "" }, "+cmd"],
    [{ path: ["**"] }, "+cmd"],
    [{ prefix: "" }, ".."],
    [{ prefix: "" }, nul],
    [{ prefix: "" }, lone],
    [{ prefix: "" }, "\u001b[2J"],
    [{ prefix: "" }, long],
    [{ path: ["**"] }, "-rf"],
    [{ path: ["**"] }, "--output=x"],
    [{ path: ["**"] }, "@args"],
    [{ path: ["**"] }, "../x"],
    [{ path: ["**"] }, "/etc/passwd"],
    [{ path: ["**"] }, "C:\\x"],
    [{ path: ["**"] }, "a//b"],
    [{ path: ["**"] }, ""],
    [{ path: ["src/**"] }, "srcx/a"],
    [{ path: ["src/**"] }, "SRC/a"],
    [{ number: {} }, "-1"],
    [{ number: {} }, "01"],
    [{ number: {} }, "+1"],
    [{ number: {} }, "1e3"],
    [{ number: {} }, "0x10"],
    [{ number: {} }, " 1"],
    [{ number: {} }, "1\n"],
    [{ number: {} }, "١"],
    [{ number: {} }, "9007199254740993"],
    [{ number: { max: 10 } }, "11"],
    [{ number: { min: -5 } }, "-0"],
    [{ number: {} }, ""],
  ])("%j does not take %j", (pattern, argument) => {
    expect(fits(pattern, argument)).toBe(false);
  });

  it.each<[string, CommandPattern, readonly string[], boolean]>([
    ["no patterns, no arguments", { command: "x" }, [], true],
    ["no patterns, an argument", { command: "x" }, [""], false],
    ["one too few", { command: "x", args: ["a", "b"] }, ["a"], false],
    ["one too many", { command: "x", args: ["a"] }, ["a", "a"], false],
    ["another order", { command: "x", args: ["a", "b"] }, ["b", "a"], false],
    ["an empty rest", { command: "x", args: ["a", { rest: { path: ["**"] } }] }, ["a"], true],
    ["a rest", { command: "x", args: ["a", { rest: { path: ["**"] } }] }, ["a", "b", "c/d"], true],
    ["an option in a rest", { command: "x", args: ["a", { rest: { path: ["**"] } }] }, ["a", "b", "-c"], false],
    ["a rest that begins too early", { command: "x", args: ["a", { rest: "b" }] }, ["b"], false],
    ["more than any program takes", { command: "x", args: [{ rest: "b" }] }, Array<string>(1_001).fill("b"), false],
  ])("%s", (_, pattern, args, expected) => {
    expect(matchCommand(pattern, "x", args)).toBe(expected);
  });

  it("one text never stands for two", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 4 }), fc.array(fc.string(), { maxLength: 4 }), (wanted, args) => {
        const isSame = wanted.length === args.length && wanted.every((each, at) => each === args[at]);
        if (matchCommand({ command: "x", args: wanted }, "x", args)) expect(isSame).toBe(true);
      }),
    );
  });
});

describe("a document with commands", () => {
  const load = (commands: unknown) =>
    policy({
      version: "1",
      posture: "standard",
      grants: [{ tool: "x", capability: { kind: "process.spawn", commands } }],
    });
  const at = "/grants/0/capability/commands";

  it.each<[unknown, string]>([
    [[], at],
    ["git status", at],
    [["git"], `${at}/0`],
    [[{ command: "" }], `${at}/0/command`],
    [[{ command: "/bin/sh" }], `${at}/0/command`],
    [[{ command: "../sh" }], `${at}/0/command`],
    [[{ command: "git status" }], `${at}/0/command`],
    [[{ command: "git;sh" }], `${at}/0/command`],
    [[{ command: "-git" }], `${at}/0/command`],
    [[{ command: "gït" }], `${at}/0/command`],
    [[{ command: "git\u0000" }], `${at}/0/command`],
    [[{ command: "*" }], `${at}/0/command`],
    [[{ command: "git", args: "status" }], `${at}/0/args`],
    [[{ command: "git", args: [1] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{}] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ regex: ".*" }] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ prefix: "a", path: ["b"] }] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ prefix: "-" }] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ prefix: "--upload" }] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ prefix: "@" }] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ path: ["../**"] }] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ path: [] }] }], `${at}/0/args/0/path`],
    [[{ command: "git", args: [{ number: { min: 2, max: 1 } }] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ rest: "a" }, "b"] }], `${at}/0/args/0`],
    [[{ command: "git", args: [{ rest: { rest: "a" } }] }], `${at}/0/args/0/rest`],
    [[{ command: "git", args: ["a\u0000"] }], `${at}/0/args/0`],
  ])("%j is refused at %s", (commands, path) => {
    const loaded = load(commands);
    expect(loaded.ok ? "loaded" : loaded.error.path).toContain(path);
  });
});

describe("names and keys", () => {
  it.each(["", ".", "..", "-a", ".a", "a b", "a/b", "a\\b", "é", nul, lone, "a*", long, "a\n"])(
    "%j is no name",
    (name) => {
      expect(checkName(name)).toBeTypeOf("string");
    },
  );

  it.each(["", ".", "..", nul, lone, overrides, "e\u0301", "a*", long, "\ufeffa"])("%j is no key", (key) => {
    expect(checkKey(key)).toBeTypeOf("string");
  });

  it.each([
    ["*", "anything", true],
    ["logs_*", "logs_2026", true],
    ["logs_*", "logs_", true],
    ["logs_*", "logs", false],
    ["logs", "LOGS", false],
    ["logs", "logs2", false],
    ["*logs", "xlogs", false],
  ])("name pattern %j on %j: %s", (pattern, name, expected) => {
    expect(matchName(pattern, name)).toBe(expected);
  });

  it.each([
    ["", "a", true],
    ["*", "a", true],
    ["users/", "users/ada", true],
    ["users/", "users", false],
    ["users/", "Users/ada", false],
    ["users/a", "users/", false],
  ])("key pattern %j on %j: %s", (pattern, key, expected) => {
    expect(matchKey(pattern, key)).toBe(expected);
  });
});

describe("a grant of one kind", () => {
  const capabilities: readonly Capability[] = [
    { kind: "db.read", databases: ["*"] },
    { kind: "db.write", databases: ["*"] },
    { kind: "kv.read", keys: ["*"] },
    { kind: "kv.write", keys: ["*"] },
    { kind: "process.spawn", commands: [{ command: "git" }] },
    { kind: "tool.call", tools: ["*"] },
    { kind: "secret.use", names: ["*"], hosts: ["*"] },
  ];
  const needs: readonly Need[] = [
    { kind: "db.read", database: "a", statements: ["select"] },
    { kind: "db.write", database: "a", statements: ["insert"] },
    { kind: "kv.read", key: "a" },
    { kind: "kv.write", key: "a" },
    { kind: "process.spawn", command: "git", args: [] },
    { kind: "tool.call", tool: "a" },
    { kind: "secret.use", name: "a", host: "example.com", isPublic: true },
  ];

  it("covers its own kind alone", () => {
    for (const capability of capabilities)
      for (const need of needs)
        expect(covers(grantOf(capabilities, [[capability]]), need)).toBe(need.kind === capability.kind);
  });

  it.each<[string, Capability, Need]>([
    [
      "reading is not changing",
      { kind: "db.read", databases: ["a"] },
      { kind: "db.read", database: "a", statements: ["delete"] },
    ],
    [
      "whatever it claims",
      { kind: "db.read", databases: ["a"], statements: ["delete"] },
      { kind: "db.read", database: "a", statements: ["delete"] },
    ],
    [
      "no statement at all",
      { kind: "db.write", databases: ["a"] },
      { kind: "db.write", database: "a", statements: [] },
    ],
    ["the schema", { kind: "db.write", databases: ["a"] }, { kind: "db.write", database: "a", statements: ["drop"] }],
    [
      "one of two",
      { kind: "db.write", databases: ["a"], statements: ["insert"] },
      { kind: "db.write", database: "a", statements: ["insert", "update"] },
    ],
    [
      "a value one byte over",
      { kind: "kv.write", keys: [""], valueBytes: 4 },
      { kind: "kv.write", key: "a", bytes: 5 },
    ],
    ["a list of more", { kind: "kv.read", keys: ["users/"] }, { kind: "kv.read", key: "user", lists: true }],
    ["a list of all", { kind: "kv.read", keys: ["users/"] }, { kind: "kv.read", key: "", lists: true }],
    [
      "a secret for another host",
      { kind: "secret.use", names: ["a"], hosts: ["example.com"] },
      { kind: "secret.use", name: "a", host: "evil.example" },
    ],
    [
      "a secret for the loopback",
      { kind: "secret.use", names: ["a"], hosts: ["*"] },
      { kind: "secret.use", name: "a", host: "127.0.0.1", isPublic: true },
    ],
  ])("does not cover %s", (_, capability, need) => {
    expect(covers(grantOf([capability], [[capability]]), need)).toBe(false);
  });
});
