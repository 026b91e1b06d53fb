import { type ApprovalRequest, patternFault } from "@keyhole/kernel";
import { assert, constant, dictionary, jsonValue, oneof, property, string, webUrl } from "fast-check";
import { describe, expect, it } from "vitest";
import { argumentChoices, patternOf } from "../../packages/playground/src/approval/pattern.ts";

const textsOf = (value: unknown): readonly string[] =>
  argumentChoices({ value } as never, {})[0]!.choices.map(({ text }) => text);

describe("the choices for an argument", () => {
  it.each<[unknown, readonly string[]]>([
    [7, ["Exactly 7", "At most 7", "Any value"]],
    ["plain", ['Exactly "plain"', "Any value"]],
    ["notes/today.txt", ['Exactly "notes/today.txt"', "Anything in notes/", "Any value"]],
    ["a/b/c.txt", ['Exactly "a/b/c.txt"', "Anything in a/b/", "Any value"]],
    ["../escape/x", ['Exactly "../escape/x"', "Any value"]],
    ["/etc/passwd", ['Exactly "/etc/passwd"', "Any value"]],
    ["https://example.com/a", ['Exactly "https://example.com/a"', "Any address on example.com", "Any value"]],
    ["https://user:pw@", ['Exactly "https://user:pw@"', "Any value"]],
    [
      [1, 2],
      ["Exactly [1,2]", "Any value"],
    ],
    [true, ["Exactly true", "Any value"]],
    [null, ["Exactly null", "Any value"]],
  ])("of %j", (value, texts) => {
    expect(textsOf(value)).toEqual(texts);
  });

  it("keep out what this call leaves out and the tool knows", () => {
    const all = argumentChoices({ url: "https://example.com/" }, { url: {}, method: {} });
    expect(patternOf(all, new Map([["url", "host"]]))).toEqual([
      { at: "/url", hostIn: ["example.com"] },
      { at: "/method", exists: false },
    ]);
    expect(
      patternOf(
        all,
        new Map([
          ["method", "any"],
          ["url", "any"],
        ]),
      ),
    ).toEqual([]);
  });

  it("leave arguments beyond the twelfth exactly as they are", () => {
    const input = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`a${i}`, i]));
    const counts = argumentChoices(input, {}).map(({ choices }) => choices.length);
    expect(counts).toEqual([...Array.from({ length: 12 }, () => 3), 1]);
  });

  it("always match the arguments that were shown", { timeout: 60_000 }, () => {
    const value = oneof(
      jsonValue(),
      webUrl(),
      string({ unit: "binary" }),
      constant("a/b//c"),
      constant("http://[::1]/x"),
    );
    const asked = (input: unknown): ApprovalRequest =>
      ({ approvalId: "1", tool: "t@1.0.0", sessionId: "s", caller: "c", input }) as ApprovalRequest;
    assert(
      property(dictionary(string(), value, { maxKeys: 4, noNullPrototype: true }), (input) => {
        const shown = JSON.parse(JSON.stringify(input)) as never;
        for (const { name, choices } of argumentChoices(shown, {})) {
          for (const { id, condition } of choices) {
            if (condition === undefined) continue;
            const pattern = patternOf([{ name, choices }], new Map([[name, id]]));
            expect(pattern).toEqual([condition]);
            const fault = patternFault(asked(shown), pattern);
            // A value without a plain form cannot stand in a rule. No other choice takes its place.
            if (id === "exact" && fault !== undefined) expect(fault).toContain("is not plain");
            else expect(fault).toBeUndefined();
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});
