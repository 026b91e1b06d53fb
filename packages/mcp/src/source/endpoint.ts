import type { Capability, Clock, Effect, Need } from "@keyhole/kernel";
import type { Transport } from "@modelcontextprotocol/client";

export interface OpenOptions {
  /** Of one message. A longer one is a fault. */
  readonly messageBytes: number;
  readonly clock: Clock;
  /** The server did what ends its connection. */
  readonly onFault: (fault: Error) => void;
}

/** How a server of MCP is reached, and the access that each of its tools needs for that. */
export interface McpEndpoint {
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
