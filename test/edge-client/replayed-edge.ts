import type { AuditEvent, CallOptions, JsonObject, JsonValue, Kernel } from "@keyhole/kernel";
import { connectEdge, type EdgeClient } from "@keyhole/worker-host/edge";
import { wireResult } from "../../packages/edge/src/app/wire.ts";

/** A call of a real kernel, as an honest edge sends it. */
export interface Answer {
  readonly versions: JsonObject[];
  readonly events: JsonObject[];
  readonly result: JsonObject;
}

export async function answerOf(
  kernel: Kernel,
  tool: string,
  input: JsonValue,
  options: CallOptions = {},
): Promise<Answer> {
  const events: AuditEvent[] = [];
  const result = await kernel.call(tool, input, { ...options, onEvent: (event) => void events.push(event) });
  const versions = kernel.list().filter(({ manifest }) => manifest.name === tool);
  return JSON.parse(JSON.stringify({ versions, events, result: wireResult(result) })) as Answer;
}

/** What an edge of another make does instead. */
interface Other {
  /** Answers the call in place of the stream of the answer. */
  readonly answerCall?: (signal: AbortSignal) => Response;
  /** `GET /v1/audit` */
  readonly log?: (from: number) => readonly object[];
}

/** A client of an edge that answers each call with this answer. */
export function clientOf({ versions, events, result }: Answer, { answerCall, log = () => [] }: Other = {}): EdgeClient {
  return connectEdge("https://edge.example", "t", {
    fetch: async (address, { signal, method = "GET" }) => {
      const { pathname, searchParams } = new URL(address);
      if (pathname === "/v1/audit") return Response.json({ events: log(Number(searchParams.get("from"))) });
      if (method === "GET") return Response.json({ versions });
      return answerCall?.(signal!) ?? streamOf(events, result);
    },
  });
}

const block = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Without a result the stream stays open until the client leaves. */
export function streamOf(events: readonly object[], result?: object, signal?: AbortSignal): Response {
  const text = events.map((event) => block("audit", event)).join("") + (result ? block("result", result) : "");
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      if (result) controller.close();
      else signal?.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
