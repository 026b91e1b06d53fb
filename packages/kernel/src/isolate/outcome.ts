import type { OutputStream } from "../hash/output-stream.ts";
import type { Hash } from "../hash/hash.ts";
import type { IsolateOutcome } from "./port.ts";

/**
 * Over what a tool gave; bytes by their own digest.
 *
 * @param flow what was written before; of a stream the outcome says only that it is whole
 */
export function outcomeHash(outcome: IsolateOutcome, by: Hash, flow: OutputStream): string {
  if (outcome.kind !== "returned") return by.jsonOrFault({ ...outcome });
  const { output } = outcome;
  if (output.form === "stream") return flow.digest;
  return output.form === "binary" ? by.bytes(output.bytes) : by.jsonOrFault({ form: output.form, text: output.text });
}
