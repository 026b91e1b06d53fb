import type { JsonObject } from "@keyhole/kernel";
import {
  type CallToolResult,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type PassedMethod, passedMethods } from "../passed-methods.ts";
import { withVisibleLists } from "./client-text.ts";
import { isContentUri, type ReadContent } from "./content.ts";
import type { McpService } from "./service.ts";
import { type Answer, type ExchangeLine, ToolExchange } from "./tool-call.ts";

const capabilityOf = {
  "prompts/list": "prompts",
  "prompts/get": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resources",
  "resources/read": "resources",
  "completion/complete": "completions",
} as const satisfies Record<PassedMethod, string>;

/** Serves the requests beside those for tools that some tool of the kernel stands for. Each is a call of that tool, with its approvals. */
export function servePassedOn(service: McpService, line: ExchangeLine, readContent?: ReadContent): void {
  const { server, caller } = line;
  for (const method of passedMethods) {
    if (!service.catalogue.forMethod(caller, method)) continue;
    const capability = capabilityOf[method];
    const listChanged = capability !== "completions" && service.options.onListChange !== undefined;
    server.server.registerCapabilities({ [capability]: { ...(listChanged && { listChanged }) } });
    const answer = (params: { readonly uri?: unknown } | undefined, ctx: ServerContext): Promise<Answer | object> =>
      method === "resources/read" && readContent && isContentUri(params?.uri)
        ? readContent(params.uri)
        : exchange(service, line, method, params, ctx);
    server.server.setRequestHandler(method, (({ params }: { readonly params?: object }, ctx: ServerContext) =>
      answer(params, ctx)) as never);
  }
}

async function exchange(
  service: McpService,
  line: ExchangeLine,
  method: PassedMethod,
  params: object | undefined,
  ctx: ServerContext,
): Promise<Answer | object> {
  // The policy can have changed since.
  const tool = service.catalogue.forMethod(line.caller, method);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
  // The list is one page, and its cursor is no argument.
  const { _meta, cursor: _, ...input } = (params ?? {}) as JsonObject;
  const answer = await new ToolExchange(service, line, tool, input, ctx).answer();
  return isInputRequiredResult(answer) ? answer : resultOf(answer);
}

/** @throws ProtocolError for a call that failed: these methods have no results that say so */
function resultOf({ isError, content, structuredContent, _meta }: CallToolResult): object {
  if (isError !== true) return { _meta, ...withVisibleLists(structuredContent ?? {}) };
  const [block] = content;
  const message = block?.type === "text" ? block.text : "The request failed.";
  throw new ProtocolError(ProtocolErrorCode.InternalError, message, _meta?.["keyhole/error"]);
}
