import { policy, type Need, type PolicyRule } from "@keyhole/kernel";
import { lintPolicy } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { requestPolicyOf } from "../../packages/kernel/src/policy/decision/request-policy.ts";
import { needOf } from "../support/grants.ts";
import { denyWhen, inputOf, loaded } from "./support.ts";

const spawn = (command: string): Need => ({ kind: "process.spawn", command, args: ["-x"] });
const query = (database: string): Need => ({ kind: "db.read", database, statements: ["select"] });
const change = (database: string): Need => ({ kind: "db.write", database, statements: ["delete"] });
const value = (key: string): Need => ({ kind: "kv.read", key });
const list = (key: string): Need => ({ kind: "kv.read", key, lists: true });
const callOf = (tool: string): Need => ({ kind: "tool.call", tool });
const secret = (name: string, host = "api.example.com"): Need => ({ kind: "secret.use", name, host });
const fetchOf = (host: string): Need => ({
  kind: "net.read",
  method: "GET",
  host,
  isPublic: true,
  port: 443,
  path: "/",
});

describe("lists for one tool", () => {
  const refused = (pay: object, need: Need): boolean =>
    requestPolicyOf(loaded({ tools: { pay } }), inputOf()).refusal(needOf(need)) !== undefined;

  it.each<[object, Need, boolean]>([
    [{ commands: { forbidden: ["rm"] } }, spawn("rm"), true],
    [{ commands: { forbidden: ["rm"] } }, spawn("git"), false],
    [{ commands: { allowed: ["git"] } }, spawn("git"), false],
    [{ commands: { allowed: ["git"] } }, spawn("sh"), true],
    [{ commands: { allowed: ["git"] } }, query("a"), false],
    [{ databases: { allowed: ["shop_*"] } }, query("shop_eu"), false],
    [{ databases: { allowed: ["shop_*"] } }, change("payroll"), true],
    [{ databases: { allowed: ["*"], forbidden: ["payroll"] } }, query("payroll"), true],
    [{ keys: { allowed: ["users/"] } }, value("users/ada"), false],
    [{ keys: { allowed: ["users/"] } }, value("admins/ada"), true],
    [{ keys: { allowed: ["users/"] } }, list("users/a"), false],
    [{ keys: { allowed: ["users/"] } }, list("user"), true],
    [{ keys: { forbidden: ["users/"] } }, list(""), true],
    [{ keys: { forbidden: ["users/"] } }, list("admins/"), false],
    [{ calls: { forbidden: ["delete_*"] } }, callOf("delete_file"), true],
    [{ calls: { allowed: ["echo"] } }, callOf("echo"), false],
    [{ hosts: { allowed: ["example.com"] } }, secret("api_key"), true],
    [{ hosts: { forbidden: ["*.example.com"] } }, fetchOf("api.example.com"), true],
  ])("%j, %j: %s", (governance, need, expected) => {
    expect(refused(governance, need)).toBe(expected);
  });

  it.each([
    [{ commands: { allowed: ["/bin/sh"] } }, "/tools/pay/commands/allowed/0"],
    [{ commands: { forbidden: ["git push"] } }, "/tools/pay/commands/forbidden/0"],
    [{ databases: { allowed: ["a*b"] } }, "/tools/pay/databases/allowed/0"],
    [{ keys: { forbidden: ["ok/", "a*"] } }, "/tools/pay/keys/forbidden/1"],
    [{ calls: { allowed: ["a b"] } }, "/tools/pay/calls/allowed/0"],
    [{ secrets: { allowed: ["a"] } }, "/tools/pay"],
  ])("%j is refused at %s", (pay, path) => {
    const result = policy({ version: "1", posture: "standard", tools: { pay } });
    expect(result.ok ? "loaded" : result.error.path).toContain(path);
  });
});

describe("a rule about requests", () => {
  it.each<[object, Need, boolean]>([
    [{ command: ["git", "sh"] }, spawn("sh"), true],
    [{ command: ["git"] }, spawn("Git"), false],
    [{ database: ["pay*"] }, query("payroll"), true],
    [{ database: ["pay*"], capability: ["db.write"] }, query("payroll"), false],
    [{ database: ["pay*"], capability: ["db.write"] }, change("payroll"), true],
    [{ key: ["users/"] }, value("users/ada"), true],
    [{ key: ["users/"] }, list("u"), true],
    [{ key: ["users/"] }, value("user"), false],
    [{ calls: ["delete_*"] }, callOf("delete_file"), true],
    [{ secret: ["root_*"] }, secret("root_key"), true],
    [{ secret: ["*"], host: ["other.example.com"] }, secret("root_key"), false],
    [{ host: ["api.example.com"] }, secret("root_key"), true],
    [{ host: ["api.example.com"], method: ["GET"] }, secret("root_key"), false],
  ])("%j on %j: %s", (when, need, expected) => {
    const guard = requestPolicyOf(loaded({ rules: [denyWhen(when)] }), inputOf());
    expect(guard.refusal(needOf(need)) !== undefined).toBe(expected);
  });

  it.each([
    [{ command: ["a/b"] }, "/rules/0/when/command/0"],
    [{ database: ["a", "*b"] }, "/rules/0/when/database/1"],
    [{ key: ["a*"] }, "/rules/0/when/key/0"],
    [{ calls: [""] }, "/rules/0/when/calls/0"],
    [{ secret: ["a b"] }, "/rules/0/when/secret/0"],
  ])("%j is refused at %s", (when, path) => {
    const result = policy({ version: "1", posture: "standard", rules: [denyWhen(when)] });
    expect(result.ok ? "loaded" : result.error.path).toBe(path);
  });

  it("only denies", () => {
    for (const when of [{ command: ["a"] }, { database: ["a"] }, { key: ["a"] }, { calls: ["a"] }, { secret: ["a"] }])
      expect(
        policy({ version: "1", posture: "standard", rules: [{ ...denyWhen(when), effect: "ask" }] }),
      ).toMatchObject({ ok: false, error: { path: "/rules/0/effect" } });
  });

  it("is tried on examples of every kind", () => {
    for (const [when, match, notMatch] of [
      [{ command: ["rm"] }, { command: "rm" }, { command: "git" }],
      [
        { database: ["payroll"], capability: ["db.write"] },
        { database: "payroll", capability: "db.write" },
        { database: "payroll" },
      ],
      [{ key: ["users/"] }, { key: "users/ada" }, { key: "admins/ada" }],
      [{ calls: ["delete_file"] }, { calls: "delete_file" }, { calls: "echo" }],
      [
        { secret: ["root"], host: ["a.example.com"] },
        { secret: "root", host: "a.example.com" },
        { secret: "root", host: "b.example.com" },
      ],
    ] as const) {
      const load = (examples: object) =>
        policy({ version: "1", posture: "standard", rules: [{ ...denyWhen(when), examples }] });
      expect(load({ match: [match], notMatch: [notMatch] })).toMatchObject({ ok: true });
      expect(load({ match: [notMatch] })).toMatchObject({ ok: false, error: { path: "/rules/0/examples/match/0" } });
      expect(load({ notMatch: [match] })).toMatchObject({ ok: false, error: { path: "/rules/0/examples/notMatch/0" } });
    }
  });
});

describe("lint of rules about requests", () => {
  const neverMatching = (when: PolicyRule["when"]) =>
    lintPolicy(loaded({ rules: [denyWhen(when)] })).filter(({ kind }) => kind === "never-matching");
  it.each([
    [{ command: ["git"], host: ["example.com"] }],
    [{ command: ["git"], database: ["a"] }],
    [{ method: ["GET"], path: ["notes/**"] }],
    [{ path: ["/admin"], capability: ["fs.read"] }],
    [{ host: ["example.com"], capability: ["fs.read", "clock"] }],
    [{ secret: ["a"], method: ["GET"] }],
    [{ calls: ["a"], capability: ["process.spawn"] }],
  ] as const)("%j can never match", (when) => {
    expect(neverMatching(when)).toMatchObject([{ ruleId: "r" }]);
  });

  it.each([
    [{ secret: ["a"], host: ["example.com"] }],
    [{ host: ["example.com"], path: ["/admin"], method: ["GET"] }],
    [{ path: ["/admin", "notes/**"], capability: ["fs.read"] }],
    [{ capability: ["db.write", "net.read"], database: ["a"] }],
  ] as const)("%j can", (when) => {
    expect(neverMatching(when)).toEqual([]);
  });

  it("finds the narrower of two, and the same twice", () => {
    const rules = [denyWhen({ command: ["git", "sh"] }, "wide"), denyWhen({ command: ["sh"] }, "narrow")];
    expect(lintPolicy(loaded({ rules }))).toMatchObject([{ kind: "shadowed", ruleId: "narrow", by: "wide" }]);
  });
});
