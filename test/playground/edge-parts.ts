import { type CallResult, defineTool, hashBytes, manifestOf } from "@keyhole/kernel";
import { vi } from "vitest";
import { openEdgeClient } from "../../packages/playground/src/client/edge-client.ts";
import type { ClientCall } from "../../packages/playground/src/client/kernel-client.ts";

export function summaryOf(kind: "stream" | "binary", hash = "blake3:0"): object {
  const definition = { name: "pour", version: "1.0.0", description: "Pours.", input: {}, execute: () => "" };
  const tool = defineTool({ ...definition, bounds: { outputBytes: 100_000 }, output: { kind } });
  return { id: "pour@1.0.0", hash, codeHash: null, manifest: manifestOf(tool, "module") };
}

export const eventText = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

export const output = (bytes: Uint8Array): string =>
  eventText("output", { base64: btoa(String.fromCharCode(...new Uint8Array(bytes))) });

const meta = { durationMs: 1, networkRequests: 0, networkBytes: 0, cached: false, warnings: [] };
const ended = { tool: "pour@1.0.0", callId: "c", effects: [], meta };

export function success(data: unknown, hash: string, more: object = {}): string {
  return eventText("result", { ok: true, ...ended, data, hash, proof: {}, ...more });
}

export const whole = (bytes: Uint8Array, digest: string = hashBytes(bytes)): string =>
  success({ digest, byteLength: bytes.length }, digest);

export const failure = eventText("result", {
  ok: false,
  ...ended,
  error: { code: "TOOL_ERROR", message: "It broke.", hint: "", operatorHint: "", retryable: false, details: null },
});

/** Instead of a text: the edge says nothing more until the page goes away. */
export const silence = "silence";

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("The page went away."))));
}

/**
 * An edge that answers every call with these texts, and what it was asked and how far it was read.
 *
 * @param answers of other addresses, by their path
 */
export function edgeThatSends(
  texts: Iterable<string>,
  tool: object = summaryOf("stream"),
  answers: Readonly<Record<string, () => Response>> = {},
) {
  const asked: unknown[] = [];
  const state = { sent: 0, left: false };
  let signal: AbortSignal | undefined;
  const source = texts[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = source.next();
        if (done === true) return controller.close();
        if (value === silence) return untilAborted(signal);
        state.sent += 1;
        controller.enqueue(new TextEncoder().encode(value));
      },
      cancel: () => void (state.left = true),
    },
    { highWaterMark: 0 },
  );
  vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
    const answer = answers[new URL(address).pathname];
    if (answer) return answer();
    if (address.endsWith("/v1/tools")) return Response.json({ tools: [tool] });
    if (!address.endsWith("/calls")) return Response.json({}, { status: 404 });
    signal = init.signal ?? undefined;
    const header = new Headers(init.headers).get("keyhole-call");
    asked.push(JSON.parse(header === null ? (init.body as string) : atob(header.slice(1, -1))));
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return { asked, state };
}

export async function callIt(more: Partial<ClientCall> = {}): Promise<CallResult> {
  const client = await openEdgeClient({ address: "https://edge.example", token: "t" });
  const { result } = await client.call({
    tool: "pour",
    version: "1.0.0",
    input: {},
    sessionId: "s",
    body: undefined,
    output: undefined,
    signal: new AbortController().signal,
    onEvent: () => {},
    onLog: () => {},
    onProgress: () => {},
    approve: async () => ({ answer: "deny", approver: "a" }),
    ...more,
  });
  return result;
}
