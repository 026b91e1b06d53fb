import type { JsonObject } from "@keyhole/kernel";

/** Why a kernel does not begin a call, beside the codes of its own results. */
export const refusals = {
  UNKNOWN_CALLER: "The kernel does not know the sender. Nothing ran.",
  BAD_REQUEST: "The request is malformed. Nothing ran.",
  DEADLINE_PASSED: "The request came after its deadline. Nothing ran.",
  DEFINITION_CHANGED: "The kernel has another definition of the tool than the request names. Nothing ran.",
  BUSY: "1,000 calls run, or 64 MiB of requests, or the kernel remembers 100,000 calls. Nothing ran.",
  RESULT_TOO_LARGE: "The tool ran, and its result is larger than 16 MiB.",
  RESULT_GONE: "The tool ran, and its result is no longer stored.",
} as const;

export type RefusalCode = keyof typeof refusals;

/** Whether the tool ran, as far as the kernel knows that refused or ended the call. */
export type Ran = "no" | "maybe";

/** The error of a reply. */
export interface BusFailure extends JsonObject {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly ran: Ran;
}

export function refusal(code: RefusalCode): BusFailure {
  const ran = code === "RESULT_TOO_LARGE" || code === "RESULT_GONE" ? "maybe" : "no";
  return { code, message: refusals[code], hint: "", ran };
}
