import type { BrokerError } from "../capability/request.ts";
import { codeOfRefusal } from "../capability/gate/refusals.ts";
import { CallFault } from "./fault.ts";

/** A request that was refused, or that would be, as the end of its call. */
export function refusalFault({ code, message, hint, operatorHint = "", reason }: BrokerError): CallFault {
  return new CallFault(codeOfRefusal[code], message, {
    ...(hint !== "" && { hint }),
    operatorHint,
    ...(reason && { details: { reason } }),
    retryable: code === "UNAVAILABLE",
  });
}
