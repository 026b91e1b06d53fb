import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the model says in one turn: calls of tools, with their arguments as text, or a text. */
export type Turn = Said | { readonly fault: keyof typeof faults };
type Said = string | readonly { readonly id: string; readonly name: string; readonly arguments: string }[];

export interface ModelServer {
  readonly url: string;
  /** Bodies of the requests. */
  readonly bodies: readonly { readonly messages: readonly { readonly content: unknown }[] }[];
  /** Headers of the requests. */
  readonly headers: readonly IncomingMessage["headers"][];
  close(): void;
}

/** A server on this machine that speaks the formats of OpenAI's and Anthropic's API, whole and streamed, and says the turns one after the other. */
export async function startModelServer(turns: readonly Turn[]): Promise<ModelServer> {
  const bodies: { stream?: boolean; messages: { content: unknown }[] }[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text) as (typeof bodies)[number];
    const turn = turns[bodies.length] ?? "done";
    bodies.push(body);
    headers.push(request.headers);
    if (typeof turn === "object" && "fault" in turn) return faults[turn.fault](response);
    const isOpenAi = request.url?.endsWith("/chat/completions") === true;
    if (body.stream === true) {
      stream(response, isOpenAi ? openAiEvents(turn) : anthropicEvents(turn));
      return;
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isOpenAi ? completionOf(turn) : messageOf(turn)));
  };
  const server = createServer((request, response) => {
    // A page asks from another origin, and before each request.
    response
      .setHeader("access-control-allow-origin", "*")
      .setHeader("access-control-allow-headers", "*, authorization");
    if (request.method === "OPTIONS") return void response.end();
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, bodies, headers, close };
}

/** What an endpoint does that no model would. */
const faults = {
  silent: () => {},
  page: (response: ServerResponse) => void response.setHeader("content-type", "text/html").end("<h1>Sign in</h1>"),
  refusal: (response: ServerResponse) =>
    stream(response, [`data: ${JSON.stringify({ error: { message: "No. ".repeat(10_000) } })}`]),
  endless: (response: ServerResponse) => {
    response.setHeader("content-type", "text/event-stream");
    const [start = "", piece = ""] = openAiEvents("never");
    response.write(`${start}\n\n`);
    const write = (): void => {
      while (!response.destroyed && response.write(`${piece}\n\n`));
    };
    response.on("drain", write);
    write();
  },
} as const satisfies Record<string, (response: ServerResponse) => void>;

function stream(response: ServerResponse, events: readonly string[]): void {
  response.setHeader("content-type", "text/event-stream");
  for (const event of events) response.write(`${event}\n\n`);
  response.end();
}

/** Arguments come in pieces, which cut words and escapes. */
const pieces = (text: string): readonly string[] => text.match(/[^]{1,5}/g) ?? [""];

/** An id for each answer: LangGraph takes a second message of one id for a change of the first. */
let answers = 0;

function completionOf(turn: Said): object {
  const message =
    typeof turn === "string"
      ? { content: turn }
      : {
          content: null,
          tool_calls: turn.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        };
  const finish_reason = typeof turn === "string" ? "stop" : "tool_calls";
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason }];
  return { id: `c${++answers}`, object: "chat.completion", created: 1, model: "m", choices };
}

function openAiEvents(turn: Said): readonly string[] {
  const id = `c${++answers}`;
  const chunk = (delta: object, finish_reason: string | null = null): string => {
    const choices = [{ index: 0, delta, finish_reason }];
    return `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 1, model: "m", choices })}`;
  };
  const start = chunk({ role: "assistant", content: typeof turn === "string" ? "" : null });
  if (typeof turn === "string") {
    const parts = pieces(turn).map((content) => chunk({ content }));
    return [start, ...parts, chunk({}, "stop"), "data: [DONE]"];
  }
  const calls = turn.flatMap(({ id: callId, name, arguments: given }, index) => [
    chunk({ tool_calls: [{ index, id: callId, type: "function", function: { name, arguments: "" } }] }),
    ...pieces(given).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
  ]);
  return [start, ...calls, chunk({}, "tool_calls"), "data: [DONE]"];
}

const emptyMessage = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

function messageOf(turn: Said): object {
  if (typeof turn === "string")
    return { ...emptyMessage, content: [{ type: "text", text: turn }], stop_reason: "end_turn" };
  const content = turn.map(({ id, name, arguments: given }) => ({
    type: "tool_use",
    id,
    name,
    input: JSON.parse(given) as unknown,
  }));
  return { ...emptyMessage, content, stop_reason: "tool_use" };
}

function anthropicEvents(turn: Said): readonly string[] {
  const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}`;
  const block = (index: number, content_block: object, deltas: readonly object[]): readonly string[] => [
    event("content_block_start", { index, content_block }),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
  ];
  const blocks =
    typeof turn === "string"
      ? block(0, { type: "text", text: "" }, pieces(turn).map((text) => ({ type: "text_delta", text }))) // prettier-ignore
      : turn.flatMap(({ id, name, arguments: given }, index) =>
          block(
            index,
            { type: "tool_use", id, name, input: {} },
            pieces(given).map((partial_json) => ({ type: "input_json_delta", partial_json })),
          ),
        );
  const stop_reason = typeof turn === "string" ? "end_turn" : "tool_use";
  return [
    event("message_start", { message: emptyMessage }),
    ...blocks,
    event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } }),
    event("message_stop", {}),
  ];
}
