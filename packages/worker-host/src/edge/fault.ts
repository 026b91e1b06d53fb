/**
 * Why an edge gave no answer. `EDGE_ADDRESS_REFUSED`: the address or the token cannot be used. `EDGE_UNREACHABLE`: nothing answers there. `EDGE_SILENT`: it did not answer in time.
 * `EDGE_UNAUTHENTICATED`: it does not accept the token. `EDGE_REFUSED`: it refused the request; `problem` has its own code. `EDGE_NOT_UNDERSTOOD`: the answer is not of the protocol.
 * `EDGE_TOO_MUCH`: the answer is larger than a client takes. `EDGE_UNTRUE`: a hash or a proof does not fit the answer. `EDGE_UNSUPPORTED`: the HTTP API does not have this.
 * `EDGE_OUTCOME_UNKNOWN`: the connection ended before the call did.
 */
export type EdgeCode =
  | "EDGE_ADDRESS_REFUSED"
  | "EDGE_UNREACHABLE"
  | "EDGE_SILENT"
  | "EDGE_UNAUTHENTICATED"
  | "EDGE_REFUSED"
  | "EDGE_NOT_UNDERSTOOD"
  | "EDGE_TOO_MUCH"
  | "EDGE_UNTRUE"
  | "EDGE_UNSUPPORTED"
  | "EDGE_OUTCOME_UNKNOWN";

/** The edge gave no answer that can be used. Methods of its client reject with nothing else. */
export class EdgeFault extends Error {
  readonly code: EdgeCode;
  /** The next step; empty where nothing useful is known. */
  readonly hint: string;
  /** The edge's own code, such as `FORBIDDEN`; only with `EDGE_REFUSED`. */
  readonly problem?: string;

  constructor(code: EdgeCode, message: string, hint = "", problem?: string) {
    super(message);
    this.name = "EdgeFault";
    this.code = code;
    this.hint = hint;
    if (problem !== undefined) this.problem = problem;
  }
}
