import type { JsonObject } from "@keyhole/kernel";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mostOfEdge } from "../../packages/worker-host/src/edge/bounds.ts";
import { openEdgeClient } from "../../packages/playground/src/client/edge-client.ts";
import { resolve } from "../../packages/playground/src/form/resolve.ts";
import { shapeOf } from "../../packages/playground/src/form/schema.ts";
import { hasTooManyFields, initialValue, mostFields } from "../../packages/playground/src/form/value.ts";
import { callIt, edgeThatSends, eventText, failure, silence, summaryOf } from "./edge-parts.ts";

afterEach(() => vi.unstubAllGlobals());

const hash = "blake3:0";
const audit = (seq: number): string =>
  eventText("audit", { seq, id: "a", time: "t", type: "x", callId: "c", payload: {}, prev: hash, hash });
const question = (at: number, more: object = {}): string =>
  eventText("approval", {
    approvalId: `q${at}`,
    callId: "c",
    sessionId: "s",
    caller: "x",
    tool: "pour@1.0.0",
    toolHash: hash,
    description: "",
    tier: 0,
    risk: null,
    effects: [],
    grants: [],
    input: {},
    argsHash: hash,
    hasBody: false,
    reason: "",
    expiresAt: "2099-01-01T00:00:00Z",
    ...more,
  });
const log = eventText("log", { level: "info", message: "x" });
const progress = eventText("progress", { done: 1 });

function* times(count: number, text: (at: number) => string): Generator<string> {
  for (let at = 0; at < count; at++) yield text(at);
}

/** What the page made of a call at an edge that sends these texts and then the end of the call. */
async function callWith(texts: readonly string[], asked: string[] = [], takesAnswers = true): Promise<string> {
  const taken = Object.fromEntries(
    [...times(200, (at) => `/v1/approvals/q${at}`)].map((path) => [path, () => new Response(null, { status: 204 })]),
  );
  edgeThatSends([...texts, failure], undefined, takesAnswers ? taken : {});
  const approve = async ({ approvalId }: { readonly approvalId: string }) => {
    asked.push(approvalId);
    return { answer: "deny", approver: "a" } as const;
  };
  return callIt({ approve }).then(
    () => "ended",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe("an edge that sends without end in one call", () => {
  it.each<[string, number, string, (at: number) => string]>([
    ["events", mostOfEdge.events, "20,000 events", audit],
    ["log lines", mostOfEdge.messages, "10,000 messages", () => log],
    ["progress reports", mostOfEdge.messages, "10,000 messages", () => progress],
    ["events that nobody knows", mostOfEdge.messages, "10,000 messages", () => eventText("other", {})],
    ["bytes that nobody asked for", mostOfEdge.messages, "10,000 messages", () => eventText("output", { base64: "" })],
  ])("%s is heard up to the bound, and one past it ends the call", async (_, most, words, text) => {
    expect(await callWith([...times(most, text)])).toBe("ended");
    expect(await callWith([...times(most + 1, text)])).toBe(`The edge sent more than ${words} in one call.`);
  });

  it("questions is heard up to the bound, and asks a person no more", async () => {
    const asked: string[] = [];
    expect(await callWith([...times(mostOfEdge.questions, question)], asked)).toBe("ended");
    expect(asked).toHaveLength(mostOfEdge.questions);
    asked.length = 0;
    const message = await callWith([...times(mostOfEdge.questions + 50, question)], asked);
    expect(message).toBe("The edge sent more than 100 questions in one call.");
    expect(asked).toHaveLength(mostOfEdge.questions);
  });

  it("a question whose answers it does not take asks a person ten times", async () => {
    const asked: string[] = [];
    const message = await callWith([question(0), silence], asked, false);
    expect(message).toBe("The edge took none of 10 answers to its question.");
    expect(asked).toHaveLength(mostOfEdge.answers);
  });

  it("text is heard up to the bound", async () => {
    const large = eventText("approval", JSON.parse(dataOf(question(0, { input: "x".repeat(16 << 20) }))));
    expect(await callWith([large, large, large, large])).toBe(
      "The edge sent more than 67,108,864 characters in one call.",
    );
  });
});

function dataOf(event: string): string {
  return event.slice(event.indexOf("data: ") + 6).trim();
}

describe("an edge whose answer holds too much", () => {
  const tools = (count: number) => () =>
    Response.json({ tools: Array.from({ length: count }, () => summaryOf("binary")) });
  const open = async (path: string, answer: () => Response): Promise<string> => {
    edgeThatSends([], undefined, { [path]: answer });
    return openEdgeClient({ address: "https://edge.example", token: "t" }).then(
      () => "opened",
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  };

  it("of tools is told so", async () => {
    expect(await open("/v1/tools", tools(mostOfEdge.tools))).toBe("opened");
    const message = "The edge sent a list of tools that holds more than this client takes.";
    expect(await open("/v1/tools", tools(mostOfEdge.tools + 1))).toBe(message);
  });

  it("of bytes is read no further", async () => {
    let sent = 0;
    const endless = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += 1 << 20;
            controller.enqueue(new Uint8Array(1 << 20).fill(32));
          },
        }),
      );
    const message = "The edge sent more than 16,777,216 bytes in one answer.";
    expect(await open("/v1/tools", endless)).toBe(message);
    expect(sent).toBeLessThan(2 * mostOfEdge.answerBytes);
  });

  it.each([
    [
      "members",
      JSON.stringify({ tools: [], ...Object.fromEntries(Array.from({ length: 260_000 }, (_, at) => [at, 0])) }),
    ],
    ["levels", `{"tools":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
  ])("of %s is told so before it is read", async (_, text) => {
    expect(await open("/v1/tools", () => new Response(text))).toBe("The edge sent more than an answer may hold.");
  });

  it("with a refusal without end is told of with its status", async () => {
    const message = "https://edge.example answered with status 500.";
    expect(await open("/v1/tools", () => new Response(" ".repeat(17 << 20), { status: 500 }))).toBe(message);
  });
});

describe("a tool whose schema", () => {
  const members = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: "string" }]));
  const object = (count: number): JsonObject => ({ type: "object", properties: members(count) });
  const self = { $ref: "#/$defs/n" };
  const tree = { ...self, $defs: { n: { type: "object", properties: { a: self, b: self }, required: ["a", "b"] } } };

  it("has more members than a form draws is edited as JSON", () => {
    expect(hasTooManyFields(object(mostFields - 1), undefined)).toBe(false);
    expect(hasTooManyFields(object(mostFields), undefined)).toBe(true);
    expect(
      hasTooManyFields(
        { type: "array", items: {} },
        Array.from({ length: mostFields }, () => 0),
      ),
    ).toBe(true);
  });

  it("refers to itself twice is edited as JSON, and starts small", () => {
    expect(hasTooManyFields(tree, undefined)).toBe(true);
    expect(JSON.stringify(initialValue(tree, tree, true)).match(/[ab]/g)?.length ?? 0).toBeLessThan(2 * mostFields);
  });

  it("refers to itself where nothing is required keeps its form", () => {
    const list = { ...self, $defs: { n: { type: "object", properties: { next: self, value: { type: "string" } } } } };
    expect(hasTooManyFields(list, {})).toBe(false);
  });

  it.each<[string, JsonObject]>([
    ["folds itself again and again", { allOf: Array.from({ length: 50 }, () => ({ $ref: "#" })) }],
    [
      "folds the same members again and again",
      { $defs: { w: object(1_000) }, allOf: Array.from({ length: 6 }, () => ({ $ref: "#/$defs/w" })) },
    ],
    ["has more forms than a choice", { oneOf: Array.from({ length: 101 }, (_, at) => object(at)) }],
    ["has more values than a choice", { enum: Array.from({ length: 1_001 }, (_, at) => at) }],
  ])("%s is edited as JSON", (_, schema) => {
    expect(shapeOf(resolve(schema, schema), schema, 0).kind).toBe("json");
  });
});
