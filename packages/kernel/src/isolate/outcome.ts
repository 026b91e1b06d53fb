import type { OutputStream } from "../hash/output-stream.ts";
import type { Hash } from "../hash/hash.ts";
import type { IsolateOutcome } from "./port.ts";

/**
 * The digest of an outcome; it covers bytes by their own digest.
 *
 * @param flow the streamed output; the outcome of a stream reports only that it is complete
 */
export function outcomeHash(outcome: IsolateOutcome, by: Hash, flow: OutputStream): string {
  if (outcome.kind !== "returned") return by.jsonOrFault({ ...outcome });
  const { output } = outcome;
  if (output.form === "stream") return flow.digest;
  return output.form === "binary" ? by.bytes(output.bytes) : by.jsonOrFault({ form: output.form, text: output.text });
}
