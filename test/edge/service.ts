import {
  type ApprovalRequest,
  createKernel,
  defineTool,
  type KernelOptions,
  type PolicyDocument,
} from "@keyhole/kernel";
import { createGateway, createRoutes, type Scope, scopes } from "@keyhole/edge";
import { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { contentStore } from "@keyhole/worker-host/content";
import { type AnyTool, registerAny } from "../support/registered.ts";

const policy: PolicyDocument = { version: "1", posture: "standard" };

let asked = 0;
/** What the tool `pieces` has made so far, in all calls. */
export const made = { pieces: 0 };

/** Trusted tools, one for each way in which a call can go. */
const tools = [
  defineTool({
    name: "echo",
    version: "1.2.0",
    description: "Gives back its input.",
    category: "text",
    input: {
      type: "object",
      properties: { message: { type: "string" } },
      required: ["message"],
      additionalProperties: false,
    },
    output: { kind: "json" },
    execute: ({ message }, context) => {
      context.log("echoing");
      context.progress({ done: 1, total: 1 });
      return { message };
    },
  }),
  defineTool({
    name: "echo",
    version: "1.0.0",
    description: "The older one.",
    input: { type: "object" },
    output: { kind: "text" },
    execute: () => "old",
  }),
  defineTool({
    name: "bytes",
    version: "1.0.0",
    description: "Gives bytes.",
    bounds: { outputBytes: 4_000_000 },
    input: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
    output: { kind: "binary", mediaType: "application/octet-stream" },
    execute: ({ count }) => Uint8Array.from({ length: count }, (_, i) => i),
  }),
  defineTool({
    name: "pieces",
    version: "1.0.0",
    description: "Gives bytes as they come.",
    bounds: { outputBytes: 1_000_000_000 },
    input: {
      type: "object",
      properties: {
        count: { type: "integer" },
        length: { type: "integer" },
        fill: { type: "integer" },
        fails: { type: "boolean" },
      },
      required: ["count", "length"],
    },
    output: { kind: "stream" },
    *execute({ count, length, fill = 0, fails }) {
      for (let i = 0; i < count; i++) {
        made.pieces++;
        yield new Uint8Array(length).fill(fill);
      }
      if (fails) throw new Error("it broke");
    },
  }),
  defineTool({
    name: "flip",
    version: "1.0.0",
    description: "Gives back its body, each byte inverted.",
    bounds: { bodyBytes: 1_000_000, outputBytes: 1_000_000 },
    input: { type: "object", properties: { most: { type: "integer" } } },
    body: {},
    output: { kind: "stream" },
    async *execute({ most = Infinity }, { body }) {
      let given = 0;
      for await (const piece of body) {
        if ((given += piece.length) > most) return;
        yield piece.map((byte) => 255 - byte);
      }
    },
  }),
  defineTool({
    name: "ill",
    version: "1.0.0",
    description: "Is not well, and says how often it was asked.",
    input: { type: "object" },
    output: { kind: "text" },
    health: () => `Asked ${(asked += 1)} times.`,
    execute: () => "fine",
  }),
  defineTool({
    name: "broken",
    version: "1.0.0",
    description: "Throws.",
    input: { type: "object" },
    output: { kind: "json" },
    execute: () => {
      throw new Error("it broke");
    },
  }),
  defineTool({
    name: "asks",
    version: "1.0.0",
    description: "Needs an approval under the standard posture.",
    tier: 2,
    input: { type: "object", properties: { amount: { type: "number" } } },
    output: { kind: "text" },
    execute: () => "approved",
  }),
  defineTool({
    name: "forbidden",
    version: "1.0.0",
    description: "Is denied under the standard posture.",
    tier: 4,
    input: { type: "object" },
    output: { kind: "text" },
    execute: () => "never",
  }),
  defineTool({
    name: "rare",
    version: "1.0.0",
    description: "May be called once an hour.",
    bounds: { callsPerHour: 1 },
    input: { type: "object" },
    output: { kind: "text" },
    execute: () => "once",
  }),
  defineTool({
    name: "waits",
    version: "1.0.0",
    description: "Waits until it is cancelled.",
    bounds: { timeoutMs: 60_000 },
    input: { type: "object" },
    output: { kind: "text" },
    execute: (_, { signal, log }) =>
      new Promise<string>((_resolve, reject) => {
        log("waiting");
        signal.addEventListener("abort", () => reject(new Error("cancelled")));
      }),
  }),
];

/** Tokens of the tests, by what they may do. The digests in the table are of these. */
export const tokens = {
  all: { subject: "alice", scopes },
  reader: { subject: "reader", scopes: ["tools:read"] },
  caller: { subject: "caller", scopes: ["tools:call"] },
  nobody: { subject: "nobody", scopes: [] },
  neighbour: { subject: "bob", scopes, tenant: "neighbour" },
} as const satisfies Record<string, { subject: string; scopes: readonly Scope[]; tenant?: string }>;

export type TokenName = keyof typeof tokens;

export const tokenOf = (name: TokenName): string => `token-of-${name}`;

export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function tokenTable(): Promise<string> {
  const entries = Object.entries(tokens).map(
    async ([name, identity]) => [await sha256Hex(tokenOf(name as TokenName)), identity] as const,
  );
  return JSON.stringify(Object.fromEntries(await Promise.all(entries)));
}

export interface Service {
  readonly desk: ApprovalDesk;
  /** Sends a request through the gateway to the routes, as `alice` where no token is named. */
  send(path: string, init?: RequestInit, token?: TokenName | null): Promise<Response>;
  call(tool: string, body: unknown, headers?: Record<string, string>, token?: TokenName): Promise<Response>;
}

/** Gateway and routes with a real kernel behind them, without Durable Objects between. */
export async function openService(
  options: KernelOptions = {},
  origins = "https://page.example",
  more: readonly AnyTool[] = [],
): Promise<Service> {
  const desk = new ApprovalDesk();
  const content = contentStore(memoryStore());
  const kernel = await createKernel({ policy, approver: desk.approver, content, ...options });
  for (const tool of [...tools, ...more]) {
    const registered = registerAny(kernel, tool);
    if (!registered.ok) throw new Error(registered.error.message);
  }
  const routes = createRoutes({ kernel, desk, policy, content });
  const table = await tokenTable();
  const gateway = createGateway<object>(() => ({ tokens: table, origins }), {
    forward: async (request) => routes.fetch(request),
  });
  const send: Service["send"] = async (path, init = {}, token = "all") => {
    const headers = new Headers(init.headers);
    if (token !== null && !headers.has("authorization")) headers.set("authorization", `Bearer ${tokenOf(token)}`);
    return gateway.fetch(new Request(`https://edge.example${path}`, { ...init, headers }), {});
  };
  return {
    desk,
    send,
    call: (tool, body, headers = {}, token = "all") =>
      send(
        `/v1/tools/${tool}/calls`,
        { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } },
        token,
      ),
  };
}

/** Events of a stream as far as it goes. */
export async function readEvents(
  response: Response,
): Promise<{ readonly id: number; readonly event: string; readonly data: never }[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("id: "))
    .map((block) => {
      const [id, event, data] = block.split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
      return { id: Number(id), event: event ?? "", data: JSON.parse(data ?? "null") as never };
    });
}

/** Waits for a question without looking at a clock: whoever asks has to get there. */
export async function untilAsked(asking: Service): Promise<ApprovalRequest> {
  for (;;) {
    const [request] = asking.desk.list();
    if (request !== undefined) return request;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
