import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { hashJson, type JsonValue } from "@keyhole/kernel";
import type { Page } from "playwright";
import { serve, type Site } from "./site.ts";

/** Writes the answer of one call, event by event. */
export interface CallStream {
  send(event: string, data: unknown): void;
  end(): void;
}

export interface FakeEdge extends Site {
  /** What the page answered to approval requests, in order, with the path of the request. */
  readonly answers: readonly { readonly path: string; readonly body: unknown }[];
}

interface FakeEdgeOptions {
  readonly tools: readonly object[];
  readonly onCall: (stream: CallStream) => void;
  readonly policy?: object;
}

/** An edge that answers as a test says, without a kernel. */
export async function fakeEdge({ tools, onCall, policy = {} }: FakeEdgeOptions): Promise<FakeEdge> {
  const answers: { path: string; body: unknown }[] = [];
  const answerCall = (response: ServerResponse): void => {
    response.setHeader("content-type", "text/event-stream");
    onCall({
      send: (event, data) => void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
      end: () => void response.end(),
    });
  };
  const takeAnswer = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    answers.push({ path, body: JSON.parse(await text(request)) });
    response.end("{}");
  };
  const site = await serve((request, response) => {
    const { url = "", method } = request;
    response
      .setHeader("access-control-allow-origin", "*")
      .setHeader("access-control-allow-headers", "*, authorization");
    if (method === "OPTIONS") response.end();
    else if (url === "/v1/tools") response.end(JSON.stringify({ tools }));
    else if (url === "/v1/policy") response.end(JSON.stringify({ policy, policyHash: "", mode: "NORMAL" }));
    else if (url === "/v1/mode") response.end(JSON.stringify({ mode: "NORMAL" }));
    else if (url === "/v1/approvals") response.end(JSON.stringify({ standing: [] }));
    else if (url.endsWith("/preview")) response.end(JSON.stringify(fakePreview));
    else if (url.startsWith("/v1/approvals/")) void takeAnswer(url, request, response);
    else answerCall(response);
  });
  return { ...site, answers };
}

const fakePreview = {
  decision: "allow",
  tool: "any@1.0.0",
  proof: { reasonCode: "posture", posture: "standard", tier: 0, determining: [] },
};

/** Enters the address by hand, and waits for the first tool. */
export async function connectTo(page: Page, address: string): Promise<void> {
  await page.getByRole("radio", { name: "Edge" }).click();
  await page
    .getByRole("button", { name: /Enter address and token|Edge settings/ })
    .first()
    .click();
  await page.getByLabel("Address").fill(address);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText("Ready", { exact: true }).waitFor();
}

/** A tool as `GET /v1/tools` has it. */
export function fakeTool(name: string, more: object = {}): object {
  const manifest = {
    name,
    version: "1.0.0",
    description: `Does what ${name} does.`,
    effects: [],
    determinism: "pure",
    tier: 0,
    source: "module",
    capabilities: [],
    bounds: {},
    input: { type: "object", properties: {} },
    output: { kind: "json" },
    ...more,
  };
  return { id: `${name}@1.0.0`, hash: `blake3:${"0".repeat(64)}`, codeHash: null, manifest };
}

/** An event of a call that `fakeResult` ends. */
export function fakeEvent(seq: number, type: string, payload: object): object {
  const hash = `blake3:${String(seq).padStart(64, "0")}`;
  const more = { v: 1, sessionId: null, traceparent: null, prev: hash, hash };
  return { ...more, seq, id: `e${seq}`, time: "2026-11-20T12:00:00.000Z", type, callId: "c", payload };
}

export function fakeResult(tool: string, more: object = {}): object {
  const meta = { durationMs: 1, networkRequests: 0, networkBytes: 0, cached: false, warnings: [] };
  const hash = `blake3:${"0".repeat(64)}`;
  return { ok: true, tool: `${tool}@1.0.0`, callId: "c", effects: [], meta, data: 1, hash, proof: {}, ...more };
}

/** An approval request for a call of a tool. */
export function fakeQuestion(approvalId: string, tool: string, input: JsonValue, more: object = {}): object {
  const hash = `blake3:${"0".repeat(64)}`;
  return {
    approvalId,
    callId: "c",
    sessionId: "s",
    caller: "playground",
    tool: `${tool}@1.0.0`,
    toolHash: hash,
    title: "",
    description: `Does what ${tool} does.`,
    tier: 2,
    risk: null,
    effects: [],
    grants: [],
    input,
    argsHash: hashJson(input),
    hasBody: false,
    policyHash: hash,
    reason: "The posture asks.",
    expiresAt: "2126-11-20T12:00:00.000Z",
    ...more,
  };
}
