import { policy } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { bob, eve, passkeysOf } from "./passkeys.ts";

describe("a policy document", () => {
  const faultOf = (part: object) => {
    const result = policy({ version: "1", posture: "standard", ...part });
    return result.ok ? undefined : result.error.path;
  };
  const ask = { id: "r", effect: "ask", approver: "passkey", reason: "x", when: {} };
  const withKey = (change: object) => {
    const passkeys = passkeysOf(bob);
    return { passkeys: { ...passkeys, keys: [{ ...passkeys.keys[0], ...change }] } };
  };

  it.each<[string, object, string]>([
    ["demands a passkey and has none", { approver: "passkey" }, "/approver"],
    ["has a rule that demands one, and has none", { rules: [ask] }, "/rules/0/approver"],
    [
      "has a demand in a rule that denies",
      { passkeys: undefined, rules: [{ ...ask, effect: "deny" }] },
      "/rules/0/approver",
    ],
    ["knows no other demand", { approver: "anyone" }, "/approver"],
    [
      "has a passkey of somebody whose yes does not count",
      { approvers: ["ada"], ...withKey({}) },
      "/passkeys/keys/0/approver",
    ],
    ["has a key in another form", withKey({ publicKey: "AAAA" }), "/passkeys/keys/0/publicKey"],
    ["has an id that is too short to be one", withKey({ credentialId: "AA" }), "/passkeys/keys/0/credentialId"],
  ])("that %s is refused", (_, part, path) => {
    expect(faultOf(JSON.parse(JSON.stringify(part)) as object)).toBe(path);
  });

  it.each<[string, string, boolean]>([
    ["approvals.example", "https://approvals.example", true],
    ["approvals.example", "https://eu.approvals.example:8443", true],
    ["localhost", "http://localhost:4321", true],
    ["approvals.example", "http://approvals.example", false],
    ["approvals.example", "https://approvals.example/", false],
    ["approvals.example", "https://evilapprovals.example", false],
    ["approvals.example", "https://approvals.example.evil.example", false],
    ["approvals.example", "https://user@approvals.example", false],
    ["127.0.0.1", "http://127.0.0.1:4321", false],
    ["example", "null", false],
  ])("with passkeys for %s takes pages of %s: %s", (domain, page, isTaken) => {
    const passkeys = { ...passkeysOf(bob), rpId: domain, origins: [page] };
    expect(faultOf({ passkeys })).toBe(isTaken ? undefined : "/passkeys/origins/0");
  });

  it("refuses one credential for two approvers", () => {
    const both = [bob.passkey, { ...eve.passkey, credentialId: bob.passkey.credentialId }];
    expect(faultOf({ passkeys: { ...passkeysOf(), keys: both } })).toBe("/passkeys/keys/1/credentialId");
  });
});
