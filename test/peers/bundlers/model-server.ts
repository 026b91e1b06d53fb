import { text } from "node:stream/consumers";
import { serve, type Site } from "../../e2e/playground/site.ts";

/** A server that speaks the API of OpenAI, with a model that calls one tool and then repeats its answer. */
export function serveModel(tool: string, input: object): Promise<Site> {
  return serve((request, response) => {
    void text(request).then((body) => {
      const { messages } = JSON.parse(body) as { readonly messages: readonly { role: string; content: unknown }[] };
      const last = messages.at(-1);
      const call = {
        index: 0,
        id: "call-1",
        type: "function",
        function: { name: tool, arguments: JSON.stringify(input) },
      };
      const [delta, reason] =
        last?.role === "tool"
          ? [{ role: "assistant", content: `The tool said: ${JSON.stringify(last.content)}` }, "stop"]
          : [{ role: "assistant", tool_calls: [call] }, "tool_calls"];
      const chunk = (choice: object, more: object = {}): string =>
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "scripted", choices: [{ index: 0, ...choice }], ...more })}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunk({ delta, finish_reason: null }));
      response.write(
        chunk(
          { delta: {}, finish_reason: reason },
          { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
        ),
      );
      response.end("data: [DONE]\n\n");
    });
  });
}
