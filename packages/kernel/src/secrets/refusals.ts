import type { BrokerError } from "../capability/request.ts";
import { maxLength, minLength } from "./found.ts";

interface Refused {
  readonly ok: false;
  readonly error: BrokerError;
}

const refused = (code: BrokerError["code"], message: string, hint: string, operatorHint = ""): Refused => ({
  ok: false,
  error: { code, message, hint, operatorHint },
});

export const foreign: Refused = refused(
  "INVALID_REQUEST",
  "The request has a placeholder for a secret that is not this call's own.",
  "Call `context.secret(name)` in each call, and store no placeholder.",
);

export function unavailable(name: string): Refused {
  return refused(
    "NOT_FOUND",
    `There is no value for the secret ${name}.`,
    "",
    `Put a value of ${minLength} to ${maxLength} characters into the store of secrets.`,
  );
}

const searched = "The kernel searches each answer for the secrets that the policy grants at its host.";

/** The kernel withholds an answer that it could not search. */
export const unreadable: Refused = refused(
  "UNAVAILABLE",
  "The store of secrets failed or did not answer in time.",
  `${searched} Retry later, or tell the user.`,
);

export const unlistable: BrokerError = refused(
  "CAPABILITY_DENIED",
  "The policy grants secrets by a pattern, and the store of secrets cannot list names.",
  `${searched} Do not retry; tell the user.`,
).error;

export function tooMany(most: number): Refused {
  return refused(
    "CAPABILITY_DENIED",
    `The policy grants more than ${most} secrets at the hosts of this call.`,
    `${searched} Do not retry; tell the user.`,
  );
}
