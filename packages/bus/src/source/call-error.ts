/** Whether a call that failed ran, for the kernel's log and for readers of the error: it stands at the beginning of its message. */
const beginnings = {
  no: "Nothing ran. ",
  maybe: "",
  unknown: "It is unknown whether the call ran. Check its effects before you repeat it. ",
} as const;

export type CallRan = keyof typeof beginnings;

const names = { no: "BusCallNotRun", maybe: "BusCallFailed", unknown: "BusOutcomeUnknown" } as const;
const MOST_UNITS = 1_500;

/** Why a call over the bus has no result. Its name says what is known of it. */
export function callError(ran: CallRan, message: string): Error {
  const error = new Error(`${beginnings[ran]}${message}`.slice(0, MOST_UNITS).toWellFormed());
  error.name = names[ran];
  return error;
}
