import * as limits from "@keyhole/kernel/limits";

/**
 * What one call may send. The shell keeps within it on the tool's behalf (it drops, queues or refuses), so that whoever exceeds it is not
 * the shell: the host then ends the isolate.
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
  /** Pieces of one output that nobody has taken yet. */
  readonly piecesInFlight: number;
}
