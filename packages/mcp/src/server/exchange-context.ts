import type { ServerContext } from "@modelcontextprotocol/server";

/** The part of the SDK's handler context that an exchange uses. */
export interface ExchangeContext {
  readonly mcpReq: Pick<
    ServerContext["mcpReq"],
    "_meta" | "envelope" | "inputResponses" | "log" | "notify" | "requestState" | "signal"
  >;
}
