import type { Hash } from "../normalize/hash.ts";
import type { IsolateOutcome } from "./port.ts";

/** Over what a tool gave; bytes by their own digest. */
export function outcomeHash(outcome: IsolateOutcome, by: Hash): string {
  if (outcome.kind !== "returned") return by.jsonOrFault({ ...outcome });
  const { output } = outcome;
  return output.form === "binary" ? by.bytes(output.bytes) : by.jsonOrFault({ form: output.form, text: output.text });
}
