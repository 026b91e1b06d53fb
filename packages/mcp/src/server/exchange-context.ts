import type { ServerContext } from "@modelcontextprotocol/server";

/** What an exchange takes of the context that the SDK gives a handler. */
export interface ExchangeContext {
  readonly mcpReq: Pick<
    ServerContext["mcpReq"],
    "_meta" | "envelope" | "inputResponses" | "log" | "notify" | "requestState" | "signal"
  >;
}
