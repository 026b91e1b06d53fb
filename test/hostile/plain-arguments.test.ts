import { type JsonValue, policy } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { isPlain } from "../../packages/kernel/src/capability/matching/plain.ts";
import { plainText } from "../../packages/kernel/src/policy/decision/plain-text.ts";
import { openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";

it.each<[JsonValue, string]>([
  [1e21, "readers take different numbers from it."],
  [12_345_678_901_234_567_890, "readers take different numbers from it."],
  [{ to: [2 ** 53] }, "readers take different numbers from it."],
  ["/tmp/../etc/", 'it has a step to another folder ("..").'],
  ["/etc/%70asswd", 'some readers decode it ("%70").'],
  ["https://h.example/a/../b", 'it has a step to another folder (".."). Write "https://h.example/b".'],
  ["https://me@h.example/", 'it has a user name or a password ("me").'],
  ["http://[::ffff:a00:5]/", 'the IPv6 address carries an IPv4 address ("[::ffff:a00:5]").'],
  ["a\u0007", 'it has a control character ("\\u0007").'],
])("a rule that names %j is refused when it is loaded: %s", (equals, fault) => {
  const rules = [{ id: "r", effect: "deny", when: { arguments: [{ at: "/at", equals }] }, reason: "No." }];
  const message = expect.stringContaining(`is not plain: ${fault}`);
  const error = { path: "/rules/0/when/arguments/0", message };
  expect(policy({ version: "1", posture: "standard", rules })).toMatchObject({ ok: false, error });
});

it("no document names a host that carries another one", () => {
  const rules = [
    { id: "r", effect: "deny", when: { arguments: [{ at: "/at", hostIn: ["[::ffff:a00:5]"] }] }, reason: "No." },
  ];
  const error = { message: expect.stringContaining("carries an IPv4 address") };
  expect(policy({ version: "1", posture: "standard", rules })).toMatchObject({ ok: false, error });
});

describe("a call whose argument is not plain", () => {
  it.each([
    ["007", { equals: 7 }, '"007" is not plain: readers take different numbers from it. Write "7".'],
    [
      "https://h/a/../b",
      { startsWith: "https://h/b" },
      '"https://h/a/../b" is not plain: it has a step to another folder (".."). Write "https://h/b".',
    ],
    ["https://a@b/", { hostIn: ["b"] }, '"https://a@b/" is not plain: readers take different hosts from it, or none.'],
    ["a//b", { pathIn: ["a/**"] }, '"a//b" is not plain: a path has no empty segments.'],
    [["8", "7x"], { contains: "7" }, '"7x" is not plain: readers take different numbers from it.'],
    [["7"], { equals: "7" }, "The argument /at is not plain: it is no simple value."],
    ["x".repeat(250) + "\u0007", { contains: "y" }, `"${"x".repeat(200)}" is not plain: it has a control character.`],
  ] as const)("%j is refused, with the plain spelling for the model", async (at, condition, hint) => {
    const rules = [
      { id: "no-seven", effect: "deny", when: { arguments: [{ at: "/at", ...condition }] }, reason: "No." },
    ] as never;
    const { kernel } = await openKernel({ policy: { ...openPolicy, rules } });
    kernel.registerTrusted(toolOf(() => 1, { input: { type: "object" } }));
    expect(await kernel.call("subject", { at })).toMatchObject({
      ok: false,
      error: {
        code: "POLICY_DENIED",
        hint,
        operatorHint: "The rule no-seven cannot read this argument. Narrow the rule, such as by `tool`.",
      },
    });
  });
});

describe("the key of a plain value", () => {
  const piece = fc.constantFrom(
    ..."aBé/.\\ #%7-+0ſ\u00ad\t～／．",
    "e\u0301",
    "ß",
    "İ",
    "..",
    "./",
    "//",
    "https://h",
    "７",
    "1.0",
  );
  const value = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));

  it.each(["text", "number", "path", "host", "file"] as const)("is its own key, as a %s", (kind) => {
    fc.assert(
      fc.property(value, (given) => {
        const plain = plainText(given, kind);
        if (isPlain(plain)) expect(plainText(plain.key, kind)).toEqual(plain);
      }),
      { numRuns: sized(1_000, 100_000) },
    );
  });
});
