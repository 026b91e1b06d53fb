import { argumentRows } from "@keyhole/kernel/policy";
import { type ApprovalRequest, hashJson, type JsonValue } from "@keyhole/kernel";
import * as fc from "fast-check";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Arguments, longOnes } from "../../packages/playground/src/approval/Arguments.tsx";
import { Question } from "../../packages/playground/src/approval/Question.tsx";
import { beginningOf } from "../../packages/playground/src/ui/LongText.tsx";

const shown = (input: JsonValue): string =>
  renderToStaticMarkup(createElement(Arguments, { all: argumentRows(input) }));

describe("the arguments of an approval request", () => {
  it("have a row each, so that a long one hides no other", () => {
    const html = shown({ body: "x".repeat(100_000), to: "mallory@example.com" });
    expect(html).toContain("mallory@example.com");
    expect(html.match(/<dt>/g)).toHaveLength(2);
    expect(html.length).toBeLessThan(10_000);
  });

  it("name the values of which only the beginning is shown, and how much that is", () => {
    const html = shown({ body: "x".repeat(100_000), lines: Array.from({ length: 50 }, () => 1), to: "a" });
    expect(html).toContain("The beginnings of 2 values are shown");
    expect(html).toContain("body, lines");
    expect(html).toContain("… 200 of 100,002 characters");
    expect(html).toMatch(/Show (?:<!-- -->)?all(?:<!-- -->)? of (?:<!-- -->)?body/);
  });

  it.for<[string, JsonValue, readonly string[]]>([
    ["an object", { a: 1, b: [2] }, ["a", "b"]],
    ["an empty object", {}, []],
    ["a text", "text", ["The input"]],
    ["null", null, ["The input"]],
    ["a list", [1, 2], ["The input"]],
    ["a member named __proto__", JSON.parse('{"__proto__":1}') as JsonValue, ["__proto__"]],
  ])("are all there for %s", ([, input, names]) => {
    expect(argumentRows(input).map(({ name }) => name)).toEqual(names);
  });

  it("are whole, or named as shortened, for any input", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        const all = argumentRows(input as JsonValue);
        const long = new Set(longOnes(all));
        for (const { name, text } of all)
          expect(long.has(name) || beginningOf(text, 200, 4) === text.length).toBe(true);
      }),
    );
  });
});

describe("the beginning of a text", () => {
  it.each([
    ["abc", 3, 6, 3],
    ["abcd", 3, 6, 3],
    ["a\nb\nc", 400, 2, 3],
    ["a\nb\n", 400, 2, 3],
    ["a😀", 2, 6, 3],
    ["", 3, 1, 0],
  ])("of %j, at most %i characters and %i lines, ends at %i", (text, length, lines, end) => {
    expect(beginningOf(text, length, lines)).toBe(end);
  });
});

describe("an approval request whose hash is of other arguments", () => {
  const question = (argsHash: string): string => {
    const whose = {
      approvalId: "a",
      callId: "c",
      sessionId: "s",
      caller: "c",
      reason: "",
      grantHash: "",
      policyHash: "",
    };
    const tool = { tool: "put@1.0.0", toolHash: "", title: "", description: "", tier: 2, risk: null, effects: [] };
    const what = {
      grants: [],
      hasBody: false,
      mode: "NORMAL" as const,
      asks: ["rule", "r"],
      input: { to: "a" },
      argsHash,
      expiresAt: "2126-11-20T12:00:00.000Z",
    };
    const request = { ...whose, ...tool, ...what } as ApprovalRequest;
    const props = { request, place: { number: 1, total: 1 }, tool: undefined, before: undefined, onAnswer: () => {} };
    return renderToStaticMarkup(createElement(Question, props));
  };
  const warning = "These arguments do not match the request";

  it("says that the call cannot be allowed", () => {
    expect(question(hashJson({ to: "b" }))).toContain(warning);
    expect(question("blake3:0")).toContain(warning);
    expect(question(hashJson({ to: "a" }))).not.toContain(warning);
  });
});
