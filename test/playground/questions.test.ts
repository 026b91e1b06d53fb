import { argumentRows, questionSentence } from "@keyhole/kernel/policy";
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  builtInFamilies,
  type JsonValue,
  type ToolSummary,
} from "@keyhole/kernel";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { AllowedBefore } from "../../packages/playground/src/approval/allowed-before.ts";
import { Arguments } from "../../packages/playground/src/approval/Arguments.tsx";
import { matchedBy } from "../../packages/playground/src/approval/earlier-inputs.ts";
import { Queue } from "../../packages/playground/src/approval/Queue.tsx";
import { type EarlierCall, originsOf, outputText, valuesOf } from "../../packages/playground/src/session/origins.ts";
import { merged } from "../../packages/playground/src/approval/useEdgeQuestions.ts";

const asked = (input: JsonValue, more: Partial<ApprovalRequest> = {}): ApprovalRequest =>
  ({
    approvalId: "a",
    sessionId: "s",
    caller: "agent",
    tool: "put@1.0.0",
    effects: [],
    expiresAt: "2126-11-20T12:00:00.000Z",
    ...more,
    input,
  }) as unknown as ApprovalRequest;
const once: ApprovalAnswer = { answer: "allow", scope: "once", approver: "p" };

describe("what was allowed before", () => {
  it("is the last call of the tool and caller that a person allowed", () => {
    const before = new AllowedBefore();
    before.note(asked({ to: "a" }), once, 1);
    before.note(asked({ to: "b" }), once, 2);
    before.note(asked({ to: "c" }), { answer: "deny", approver: "p" }, 3);
    before.note(asked({ to: "d" }), { answer: "edit", input: {}, approver: "p" }, 4);
    before.note(asked({ to: "e" }, { caller: "other" }), once, 5);
    expect(before.find(asked({}))).toEqual({ input: { to: "b" }, at: 2 });
    expect(before.find(asked({}, { tool: "put@1.0.1" }))).toBeUndefined();
  });

  it("forgets the oldest of many", () => {
    const before = new AllowedBefore();
    for (let i = 0; i < 300; i++) before.note(asked(i, { tool: `t${i}@1.0.0` }), once, i);
    expect(before.find(asked(0, { tool: "t99@1.0.0" }))).toBeUndefined();
    expect(before.find(asked(0, { tool: "t100@1.0.0" }))).toBeDefined();
  });

  it("marks each argument as the same, changed, new or left out, and never hides the value asked for", () => {
    const html = renderToStaticMarkup(
      createElement(Arguments, {
        all: argumentRows({ same: 1, changed: "now\u202e", fresh: "n" }),
        before: argumentRows({ same: 1, changed: "then", gone: true }),
      }),
    );
    expect(html.match(/As allowed before/g)).toHaveLength(1);
    expect(html.match(/<summary>Changed<\/summary>/g)).toHaveLength(1);
    expect(html.match(/>New</g)).toHaveLength(1);
    expect(html.match(/Left out now/g)).toHaveLength(1);
    expect(html).toContain("&quot;now\\u202e&quot;</span>");
    expect(html).not.toContain("\u202e");
  });
});

describe("the sentence of a question", () => {
  const tool = {
    manifest: {
      capabilities: [
        { kind: "net.read", hosts: ["*"], target: { url: "/to/url", method: "/method" } },
        { kind: "fs.write", paths: ["**"], target: { path: "/path" } },
      ],
    },
  } as unknown as ToolSummary;
  const removes = { kind: "fs.write", paths: ["**"], operations: ["remove"], target: { path: "/path" } };
  const removing = { manifest: { capabilities: [removes] } } as unknown as ToolSummary;

  it.for<[string, JsonValue, ApprovalRequest["effects"], ToolSummary | undefined, string]>([
    ["no effect", {}, [], tool, "put has no effect outside."],
    ["a target", { path: "a.txt" }, ["fs.write"], tool, "put can change or delete a.txt."],
    [
      "two effects",
      { path: "a\u202e", to: { url: "https://x/" } },
      ["fs.write", "net.read"],
      tool,
      "put can change or delete a\\u202e and can read from https://x/.",
    ],
    ["a file that goes", { path: "a.txt" }, ["fs.write"], removing, "put deletes a.txt."],
    ["a removal without a target", {}, ["fs.write"], removing, "put can delete files."],
    ["an unknown tool", { path: "a.txt" }, ["fs.write"], undefined, "put can change or delete files."],
    ["a target that is no text", { path: { deep: 1 } }, ["fs.write"], tool, "put can change or delete files."],
    [
      "a member of a prototype",
      JSON.parse('{"to":{}}') as JsonValue,
      ["net.read"],
      tool,
      "put can read from the network.",
    ],
  ])("names %s", ([, input, effects, known, sentence]) => {
    expect(questionSentence(asked(input, { effects }), known?.manifest)).toBe(sentence);
  });

  it("names what is granted where no target is known", () => {
    const grants = ["process.spawn filesystem", "fs.read notes/**", "fs.read.x other"];
    const request = asked({}, { effects: ["process.spawn", "fs.read"], grants });
    expect(questionSentence(request)).toBe("put can run commands (filesystem) and can read files (notes/**).");
  });

  it.each(builtInFamilies.effects)("has a verb of its own for %s", (effect) => {
    expect(questionSentence(asked({}, { effects: [effect] as ApprovalRequest["effects"] }))).toMatch(/^put can /);
  });

  it("keeps both ends of a long target", () => {
    const text = questionSentence(
      asked({ path: `start${"x".repeat(10_000)}end` }, { effects: ["fs.write"] }),
      tool.manifest,
    );
    expect(text).toMatch(/start.* … .*end\./);
    expect(text.length).toBeLessThan(250);
  });
});

describe("a pattern", () => {
  it("names the earlier calls that it would have answered", () => {
    const earlier = ["notes/a", "notes/b", "etc/passwd"].map((path) => ({ what: path, input: { path } }));
    const pattern = [{ at: "/path", pathIn: ["notes/**"] }];
    expect(matchedBy(asked({ path: "notes/c" }), pattern, earlier).map(({ what }) => what)).toEqual([
      "notes/a",
      "notes/b",
    ]);
  });
});

describe("the origin of a value", () => {
  const call = (tool: string, input: JsonValue, data: unknown): EarlierCall => ({
    tool,
    startedAt: 1,
    input,
    output: outputText(data),
  });
  const page = call("fetch_url", { url: "https://docs.example/" }, 'See "evil.example" and\n\u202ehidden.');

  it.for<[string, JsonValue, readonly string[]]>([
    ["a host of an address", { url: "https://evil.example/x" }, ["evil.example"]],
    ["a text in its own spelling", { note: "\n\u202ehidden" }, ["\n\u202ehidden"]],
    ["deep inside", { a: [{ b: "evil.example" }] }, ["evil.example"]],
    ["one that stands in an earlier input, too", { url: "https://docs.example/" }, []],
    ["one that is too short to say anything", { a: "See" }, []],
    ["one that stands nowhere", { a: "elsewhere" }, []],
  ])("is found by its text: %s", ([, input, values]) => {
    expect(originsOf(input, [page]).map(({ value, tool }) => [value, tool])).toEqual(
      values.map((value) => [value, "fetch_url"]),
    );
  });

  it("stays quick and bounded for inputs and outputs of any size", () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, `value ${at}`]));
    expect(valuesOf(wide)).toHaveLength(40);
    expect(valuesOf(JSON.parse(`${"[".repeat(5_000)}"deep value"${"]".repeat(5_000)}`) as JsonValue)).toEqual([
      "deep value",
    ]);
    expect(outputText("x".repeat(50_000_000))).toHaveLength(1_000_000);
    expect(outputText(new Uint8Array(9))).toBe("");
  });
});

describe("questions of an edge", () => {
  it("stay the same objects while they wait, and are others once the edge changes them", () => {
    const [one, two] = [asked({ a: 1 }), asked({ a: 1 }, { approvalId: "b" })];
    const again = merged([one, two], [structuredClone(two), structuredClone(one), structuredClone(one)]);
    expect(again).toHaveLength(2);
    expect(again[0]).toBe(two);
    expect(again[1]).toBe(one);
    expect(merged([one], [asked({ a: 2 })])[0]).not.toBe(one);
  });
});

describe("the queue of questions", () => {
  const queue = (count: number): string => {
    const questions = Array.from({ length: count }, (_, i) => ({
      request: asked({}, { approvalId: `${i}`, tool: `<b>${i}@1.0.0`, caller: `\u202e${"c".repeat(500)}` }),
      before: undefined,
      answer: () => {},
    }));
    return renderToStaticMarkup(
      createElement(Queue, { questions, shown: questions[1]!, tools: [], onChoose: () => {} }),
    );
  };

  it("lists each one once, marks the one that is shown, and shows no markup of a tool", () => {
    const html = queue(3);
    expect(html.match(/<li>/g)).toHaveLength(3);
    expect(html.match(/aria-current="true"/g)).toHaveLength(1);
    expect(html).not.toMatch(/<b>|\u202e/);
  });

  it("stays short however many there are", () => {
    const html = queue(5_000);
    expect(html.match(/<li>/g)).toHaveLength(50);
    expect(html).toMatch(/And (?:<!-- -->)?4950(?:<!-- -->)? more/);
  });
});
