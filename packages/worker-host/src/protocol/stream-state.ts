import type { IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { protocolLimits } from "./limits.ts";
import type { GuestOutcome, GuestPiece } from "./message.ts";

/** How far the streams of one call are: its output in pieces, and its body. */
export interface StreamState {
  readonly call: IsolateCall;
  pieces: number;
  piecesInFlight: number;
  body: BodyState;
}

/** How far the guest is in the body of its call. */
export type BodyState = "open" | "pulled" | "over";

/** Why a piece is not what the shell would send now. How many bytes there may be in all is for the kernel to say. */
export function pieceFault(
  { call, pieces, piecesInFlight }: Pick<StreamState, "call" | "pieces" | "piecesInFlight">,
  { piece }: GuestPiece,
): string | undefined {
  if (call.outputKind !== "stream") return "a chunk of an output that is not a stream";
  if (piece !== pieces) return "a piece out of order";
  return piecesInFlight >= protocolLimits.piecesInFlight ? "a piece without credit" : undefined;
}

/** Why the shell would ask for nothing now. */
export function pullFault({ call, body }: Pick<StreamState, "call" | "body">): string | undefined {
  if (call.hasBody !== true) return "a pull in a call without a body";
  if (body === "pulled") return "a pull before the last one was answered";
  return body === "over" ? "a pull after the end of the body" : undefined;
}

/** `undefined`: the output is of a kind that the call did not ask for. The shell measures before it sends, so a larger one is forged. */
export function checkOutcome(
  outcome: GuestOutcome,
  { outputKind, outputBytes }: IsolateCall,
): IsolateOutcome | undefined {
  if (outcome.kind === "threw") {
    const { code, ...threw } = outcome;
    return code === undefined ? threw : { ...threw, code };
  }
  if (outcome.kind !== "returned") return outcome;
  const { output } = outcome;
  if (output.form !== outputKind) return undefined;
  if (output.form === "stream") return outcome;
  const least = output.form === "binary" ? output.bytes.byteLength : output.text.length;
  return least > outputBytes ? { kind: "too-large", what: "output", limit: outputBytes } : outcome;
}
