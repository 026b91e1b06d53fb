/** Why a client got no usable answer of an edge. */
export type EdgeCode =
  /** The address is neither `https:` nor this machine, or the token is malformed. */
  | "EDGE_ADDRESS_REFUSED"
  /** Nothing answers at the address. */
  | "EDGE_UNREACHABLE"
  /** No answer came within `silenceMs` (30,000). The tool can have run. */
  | "EDGE_SILENT"
  /** The edge does not accept the token. */
  | "EDGE_UNAUTHENTICATED"
  /** The edge refused the request. `problem` is its own code. */
  | "EDGE_REFUSED"
  /** The answer does not follow the protocol. */
  | "EDGE_NOT_UNDERSTOOD"
  /** The answer is larger than a client takes. */
  | "EDGE_TOO_MUCH"
  /** Hash, proof, events or request contradict the result. The tool can have run. */
  | "EDGE_UNTRUE"
  /** The HTTP API has no such method. */
  | "EDGE_UNSUPPORTED"
  /** The connection or the log ended before the call, or `callMs` (3,600,000) passed. The tool can have run. */
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

/** A call that can have run, whose end did not come. */
export function unknownEnd(message: string): EdgeFault {
  return new EdgeFault("EDGE_OUTCOME_UNKNOWN", message, "The audit log of the edge has its end.");
}
