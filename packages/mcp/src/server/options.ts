import type { OptionNames } from "@keyhole/kernel/foreign";
import type { ApprovalRequest, Approver, Clock, ContentStore } from "@keyhole/kernel";
import type { McpServer } from "@modelcontextprotocol/server";
import type { CatalogueOptions } from "./catalogue.ts";
import type { McpCaller } from "./caller.ts";

/** How a person answers a question of the kernel while a client waits. */
export interface McpApprovals {
  readonly approver: Approver;
  /** The page on which a person can answer; `undefined` where there is none. A client that opens pages is given it; for any other one it stands in an error for the model. */
  readonly url: (question: ApprovalRequest) => string | undefined;
}

export interface McpServerOptions extends CatalogueOptions {
  /** How the server calls itself. Default `keyhole`. */
  readonly name?: string;
  /** Default `0.0.0`. */
  readonly version?: string;
  /** For the client's model. */
  readonly instructions?: string;
  /** Default: the kernel's own approver, of whose questions the client learns nothing. */
  readonly approvals?: McpApprovals;
  /**
   * The kernel's content store. With it an output of more than 1 MiB is a link. The same caller can read it in the same session, while the kernel would allow its call.
   * The link ends with this server, also with a fixed `stateKey`.
   */
  readonly content?: ContentStore;
  /** 32 bytes that seal the `requestState` of clients. Default: random, so that each state ends with the process. */
  readonly stateKey?: Uint8Array;
  /** How long one exchange waits for a person, in ms. Default 25,000: clients give up after 60,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
  /** Adds prompts, resources and completion of your own. They pass no policy. */
  readonly extend?: (server: McpServer, caller: McpCaller) => void;
  /** Receives refused requests and faults. Default: none. */
  readonly onError?: (error: Error) => void;
}

export const serverOptions: OptionNames<McpServerOptions> = {
  questions: true,
  definitionOf: true,
  methodOf: true,
  onListChange: true,
  pageSize: 1,
  name: true,
  version: true,
  instructions: true,
  approvals: true,
  content: true,
  stateKey: true,
  waitMs: 0,
  clock: true,
  extend: true,
  onError: true,
};
