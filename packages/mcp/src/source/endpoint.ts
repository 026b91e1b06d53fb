import type { Capability, Clock, Effect, JsonObject, Need } from "@keyhole/kernel";
import type { RequestId, Transport } from "@modelcontextprotocol/client";
import type { ServedCall } from "./running-calls.ts";

export interface OpenOptions {
  /** Of one message. A longer one is a fault. */
  readonly messageBytes: number;
  readonly clock: Clock;
  /** The server did what ends its connection. */
  readonly onFault: (fault: Error) => void;
  /** The server sent what is no message. */
  readonly onStray: () => void;
  /** The call that a request of the client serves; `undefined` for one of the source's own. */
  readonly callOf: (request: RequestId) => ServedCall | undefined;
  readonly charge: ChargeReceived;
}

/**
 * Charges received bytes to the call that they belong to, before the transport passes them on. `false`: the budget is spent, and the transport drops them.
 *
 * @param message the JSON in these bytes, if it is any
 * @param answered the call whose request the bytes answer
 */
export type ChargeReceived = (bytes: number, message: unknown, answered?: ServedCall) => boolean;

/** How a server of MCP is reached, and the access that each of its tools needs for that. */
export interface McpEndpoint {
  /** The way to the server, without secrets: the source pins it beside the definitions. */
  readonly way: JsonObject;
  /** The policy has to grant these to each tool of the server. */
  readonly capabilities: readonly Capability[];
  readonly effects: readonly Effect[];
  /** Each call makes these accesses. The policy decides about them at each call; the log names them. */
  readonly needs: readonly Need[];
  /** Before each connection. Takes as long as it takes: a person may have to sign in. */
  prepare?(): Promise<void>;
  /** A new connection. */
  open(options: OpenOptions): Transport;
}
