import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { png, resourceBlock } from "./tools.ts";

/** Prompts, resources and completion of the suite, which the kernel does not have. */
export function extras(server: McpServer): void {
  server.server.registerCapabilities({
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    completions: {},
  });
  addResources(server);
  addPrompts(server);
  server.server.setRequestHandler("completion/complete", ({ params: { ref, argument } }) => {
    if (ref.type === "ref/prompt" && !ref.name.startsWith("test_"))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown prompt");
    const values = ["paris", "park", "party"].filter((value) => value.startsWith(argument.value));
    return { completion: { values, hasMore: false } };
  });
}

function addResources(server: McpServer): void {
  const add = (name: string, mimeType: string, part: { readonly text: string } | { readonly blob: string }): void => {
    const uri = `test://${name}`;
    server.registerResource(name, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, ...part }] }));
  };
  add("static-text", "text/plain", { text: "This is the content of the static text resource." });
  add("static-binary", "image/png", { blob: png });
  add("watched-resource", "text/plain", { text: "Watched" });
  const mimeType = "application/json";
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, { mimeType }, (uri, { id }) => {
    const data = { id, templateTest: true, data: `Data for ID: ${String(id)}` };
    return { contents: [{ uri: uri.href, mimeType, text: JSON.stringify(data) }] };
  });
  for (const method of ["resources/subscribe", "resources/unsubscribe"] as const)
    server.server.setRequestHandler(method, () => ({}));
}

type Messages = ReturnType<Parameters<McpServer["registerPrompt"]>[2]> & object;

function user(...content: readonly object[]): Messages {
  return { messages: content.map((each) => ({ role: "user", content: each })) } as Messages;
}

const text = (words: string) => ({ type: "text", text: words });
const strings = (...names: readonly string[]) =>
  fromJsonSchema<Record<string, string>>({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: [...names],
  });

function addPrompts(server: McpServer): void {
  server.registerPrompt("test_simple_prompt", { description: "Simple." }, () =>
    user(text("This is a simple prompt for testing.")),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "Two arguments.", argsSchema: strings("arg1", "arg2") },
    ({ arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A resource.", argsSchema: strings("resourceUri") },
    ({ resourceUri }) =>
      user(
        resourceBlock(String(resourceUri), "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  );
  server.registerPrompt("test_prompt_with_image", { description: "An image." }, () =>
    user({ type: "image", data: png, mimeType: "image/png" }, text("Please analyze the image above.")),
  );
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks first." }, (ctx: ServerContext) => {
    const context = acceptedContent(ctx.mcpReq.inputResponses, "user_context")?.["context"];
    if (typeof context === "string") return user(text(`Use: ${context}`));
    const requestedSchema = {
      type: "object",
      properties: { context: { type: "string" } },
      required: ["context"],
    } as const;
    const user_context = inputRequired.elicit({
      message: "What context?",
      requestedSchema: { ...requestedSchema, required: ["context"] },
    });
    return inputRequired({ inputRequests: { user_context } });
  });
}
