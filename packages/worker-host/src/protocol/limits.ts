import * as limits from "@keyhole/kernel/limits";

/**
 * The messages that one call may send. The shell keeps the tool within them: it drops, queues or
 * refuses. So a sender beyond them is not the shell, and the host ends the isolate.
 */
export const protocolLimits: ProtocolLimits = {
  messages: limits.messagesPerCall,
  messageLength: limits.messageLength,
  requests: limits.requestsPerCall,
  requestsInFlight: limits.requestsInFlight,
  argumentsLength: 65_536,
  argumentsDepth: 8,
  bodyBytes: limits.ceilings.networkBytes,
  nameLength: 100,
  pieceBytes: limits.pieceBytes,
  piecesInFlight: limits.piecesInFlight,
};

export interface ProtocolLimits {
  /** Log lines and progress reports. */
  readonly messages: number;
  /** UTF-16 units of a log line, a progress message, an error message. */
  readonly messageLength: number;
  readonly requests: number;
  /** Requests without an answer yet. */
  readonly requestsInFlight: number;
  /** UTF-16 units of a request's arguments as JSON; a URL or a path is most of it. */
  readonly argumentsLength: number;
  readonly argumentsDepth: number;
  readonly bodyBytes: number;
  /** UTF-16 units of an error's name or code, an operation, a reason. */
  readonly nameLength: number;
  readonly pieceBytes: number;
  /** Chunks of one output that the caller has not taken yet. */
  readonly piecesInFlight: number;
}
