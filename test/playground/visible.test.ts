import {
  type ApprovalRequest,
  type AuditEvent,
  type CallResult,
  type JsonValue,
  type ToolSummary,
  visible,
} from "@keyhole/kernel";
import { type ComponentType, createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ToolPanel } from "../../packages/playground/src/app/ToolPanel.tsx";
import { Question } from "../../packages/playground/src/approval/Question.tsx";
import { ClientFault } from "../../packages/playground/src/client/kernel-client.ts";
import { PolicyReader } from "../../packages/playground/src/policy/PolicyReader.tsx";
import { RunView } from "../../packages/playground/src/run/RunView.tsx";
import { headOf } from "../../packages/playground/src/session/call-head.ts";
import { reduceRun, type RunAction, startRun } from "../../packages/playground/src/run/run-state.ts";
import { CallCells } from "../../packages/playground/src/log/CallRow.tsx";
import { ErrorView } from "../../packages/playground/src/run/ErrorView.tsx";
import { ResultView } from "../../packages/playground/src/run/ResultView.tsx";
import { Timeline } from "../../packages/playground/src/run/Timeline.tsx";
import { Markdown } from "../../packages/playground/src/ui/Markdown.tsx";

/** Reorders what follows, joins words, hides a letter, and speaks to a model alone. */
const tricks = "\u202e\u200b\u2066\u00ad\ufeff\u{e0041}\u0007";
const hidden = /[\u202e\u200b\u2066\u00ad\ufeff\u{e0041}\u0007]/u;

const html = <Props extends object>(component: ComponentType<Props>, props: Props): string =>
  renderToStaticMarkup(createElement(component, props));

/** No text and no attribute has a raw character, and the tricks are there as escapes. */
function expectVisible(markup: string): void {
  const at = markup.search(hidden);
  expect(at < 0 ? "" : markup.slice(Math.max(0, at - 100), at + 20)).toBe("");
  expect(markup).toContain(String.raw`\u202e`);
}

const t = (text: string): string => text + tricks;
const digest = `blake3:${"0".repeat(64)}`;

const tool = {
  id: t("trick@1.0.0"),
  hash: t(digest),
  codeHash: null,
  manifest: {
    name: "trick",
    version: t("1.0.0"),
    title: t("Title"),
    description: t("Description with `code") + "` and **bold" + tricks + "**",
    effects: ["net.read"],
    determinism: "pure",
    tier: 0,
    source: "module",
    capabilities: [{ kind: "net.read", hosts: [t("example.com")] }],
    bounds: { timeoutMs: 1 },
    input: {
      type: "object",
      properties: {
        [t("text")]: { type: "string", title: t("A text"), description: t("Text"), examples: [t("for example")] },
        filled: { type: "string", default: t("default") },
        [t("number")]: { type: "integer", description: t("Number") },
        [t("choice")]: { enum: [t("one"), t("two")], default: t("one") },
        [t("list")]: { type: "array", items: { type: "string" }, default: [t("item")] },
        [t("map")]: { type: "object", additionalProperties: { type: "string" }, default: { [t("key")]: t("value") } },
        [t("group")]: { type: "object", title: t("Group"), properties: { [t("inner")]: { type: "boolean" } } },
        [t("kinds")]: {
          oneOf: [
            { title: t("first"), type: "string" },
            { title: t("second"), type: "number" },
          ],
        },
        [t("json")]: { default: [t("json")] },
      },
      required: [t("group"), t("json")],
    },
    body: { mediaType: t("text/plain") },
    output: { kind: "json", mediaType: t("text/plain") },
  },
} as unknown as ToolSummary;

/** Values aside: an input holds a text as it is, and the field spells the text out. A browser does not show what files it accepts. */
const withoutValues = (markup: string): string =>
  markup.replaceAll(/ (?:value|accept)="[^"]*"/g, "").replaceAll(/(<textarea[^>]*>)[^<]*/g, "$1");

describe("untrusted text", () => {
  it("shows its invisible characters in a tool and its form", () => {
    const nothing = () => {};
    const props = {
      seed: undefined,
      foresee: undefined,
      isRunning: false,
      isCancelling: false,
      headingRef: { current: null },
      isWatched: false,
    };
    expectVisible(
      withoutValues(html(ToolPanel, { tool, ...props, onRun: nothing, onCancel: nothing, onBack: nothing })),
    );
  });

  it("shows its invisible characters in an approval request", () => {
    const request = {
      approvalId: "a",
      callId: "c",
      sessionId: t("s"),
      caller: t("caller"),
      tool: t("trick@1.0.0"),
      toolHash: digest,
      title: t("Title"),
      description: t("Description"),
      tier: 2,
      risk: t("low"),
      effects: [],
      grants: [t("net.read example.com")],
      input: { [t("to")]: t("somebody"), deep: [{ [t("key")]: t("value") }] },
      argsHash: t(digest),
      hasBody: false,
      policyHash: digest,
      reason: t("Because"),
      expiresAt: "2126-11-20T12:00:00.000Z",
    } as unknown as ApprovalRequest;
    expectVisible(
      html(Question, {
        request,
        place: { number: 1, total: 2 },
        tool: undefined,
        before: { input: { [t("gone")]: t("old") }, at: 0 },
        onAnswer: () => {},
      }),
    );
  });

  const event = {
    v: 1,
    seq: 1,
    id: "e",
    time: t("2026-11-20T12:00:00.000Z"),
    type: "approval.requested",
    callId: "c",
    payload: { approvalId: "a", argsHash: digest, reason: t("Because"), expiresAt: "2026-11-20T12:00:00.000Z" },
    prev: t(digest),
    hash: t(digest),
  } as unknown as AuditEvent;

  it("shows its invisible characters in the list of events", () => {
    expectVisible(html(Timeline, { events: [event], isRunning: false }));
    expectVisible(html(Timeline, { events: [{ ...event, type: t("tool.hummed") as never }], isRunning: false }));
  });

  const meta = { durationMs: 1, networkRequests: 0, networkBytes: 0, cached: false, warnings: [t("warning")] };
  const ended = { tool: t("trick@1.0.0"), callId: t("c"), effects: [], meta };

  it.each<readonly [string, object]>([
    ["text", { data: t("text") }],
    ["data", { data: { [t("key")]: t("value") } }],
  ])("shows its invisible characters in a result that is %s", (_, { data }: { data?: JsonValue }) => {
    const result = { ok: true, ...ended, data, hash: t(digest), proof: {} } as never;
    expectVisible(html(ResultView, { result, tool, file: undefined }));
  });

  it("shows its invisible characters in an error", () => {
    const error = {
      code: "TOOL_ERROR",
      message: t("m"),
      hint: t("h"),
      operatorHint: t("o"),
      retryable: false,
      details: { [t("a")]: t("b") },
    };
    expectVisible(
      html(ErrorView, {
        result: { ok: false, ...ended, error } as never,
        onOpenPolicy: () => {},
        onDecision: () => {},
      }),
    );
  });

  it.each<readonly [string, readonly RunAction[]]>([
    ["runs", [{ type: "progress", progress: { done: 1, message: t("Halfway") } }]],
    [
      "ended",
      [
        { type: "events", events: [event] },
        {
          type: "done",
          result: { ok: true, ...ended, data: t("x"), hash: "", proof: {} } as unknown as CallResult,
          file: undefined,
        },
      ],
    ],
    ["broke", [{ type: "broken", fault: new ClientFault("protocol", t("message"), t("hint")) }]],
  ])("shows its invisible characters in a call that %s", (_, actions) => {
    const run = actions.reduce(reduceRun, startRun({ tool, input: {}, startedAt: 0 }, undefined));
    const nothing = () => {};
    expectVisible(
      html(RunView, {
        run,
        governance: undefined,
        governed: undefined,
        onOpenPolicy: nothing,
        onReconnect: nothing,
      }),
    );
  });

  it("shows its invisible characters in a row of the log of calls", () => {
    const run = startRun({ tool: { ...tool, id: t("trick@1.0.0") }, input: {}, startedAt: 0 }, undefined);
    const origin = { id: t("id"), tab: "a", place: "edge", address: t("host"), what: t("input"), unkept: [] } as const;
    expectVisible(html(CallCells, { head: { ...headOf(run, origin), hash: t(digest) } }));
  });

  it("shows its invisible characters in a policy and a page of Markdown", () => {
    expectVisible(html(PolicyReader, { policy: { [t("grants")]: [t("x")] } }));
    expectVisible(html(Markdown, { text: `# ${tricks}\n\n- ${tricks}\n\n| ${tricks} |\n| - |\n| ${tricks} |` }));
  });
});

describe("visible", () => {
  it("leaves JSON the same JSON, and an escaped text as it is", () => {
    const text = fc.string({ unit: fc.constantFrom(...tricks, "a", "\\", '"', "\n", "❤", "\ufe0f", "😀", "\ud800") });
    fc.assert(
      fc.property(text, (each) => {
        const shown = visible(JSON.stringify({ [each]: each }));
        expect(JSON.parse(shown)).toEqual({ [each]: each });
        expect(visible(shown)).toBe(shown);
      }),
    );
  });

  it.each<readonly [string, string]>([
    ["\u{e0041}\u034f\u115f\u3164\uffa0", String.raw`\udb40\udc41\u034f\u115f\u3164\uffa0`],
    ["a\r\nb\rc\u0000\u001b[31m\u0085", "a\r\nb\\u000dc\\u0000\\u001b[31m\\u0085"],
    ["\u2028\u2029\u2066\u2800\ue000\ud800", String.raw`\u2028\u2029\u2066\u2800\ue000\ud800`],
    ["x\ufe0f", String.raw`x\ufe0f`],
    ["❤\ufe0f 👩🏽 Grüße, 世界, مرحبا\n\ttab", "❤\ufe0f 👩🏽 Grüße, 世界, مرحبا\n\ttab"],
  ])("turns %j into %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });
});
