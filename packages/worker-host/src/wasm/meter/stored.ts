import { MeterRefusal } from "./refusal.ts";
import type { FunctionType, ValueType } from "./types.ts";

/**
 * Exceptions are outside of the linear memory, where no bound counts them. What the call stack holds is bounded with the stack; so nothing else may hold one.
 */
export function checkStored(type: ValueType, place: string): void {
  if (type.isException)
    throw new MeterRefusal(
      "UNSUPPORTED_STORED_EXNREF",
      `The module keeps exceptions (exnref) in ${place}, outside of its memory.`,
      "Keep them in local variables.",
    );
}

/** Compilers use one or two. An exception of them is a kilobyte at most. */
const maxTagParameters = 16;

export function checkTag({ parameters, takes }: FunctionType): void {
  if (parameters > maxTagParameters)
    throw new MeterRefusal(
      "TAG_TOO_LARGE",
      `An exception of the module has ${parameters} values; the bound is ${maxTagParameters}.`,
      "Put the values into the memory, and throw where they are.",
    );
  // One in the payload of another one makes a list of them.
  checkStored(takes, "the payload of an exception");
}

/** A call may leave what it gives on the operand stack, which is not counted. */
export function checkResults({ gives }: FunctionType): void {
  checkStored(gives, "the result of a function");
}
