import type { CallResult } from "../../result.ts";
import type { OwnWriter } from "../arrival/read-options.ts";

/** Closes what the output flowed into, or aborts it: also where the bytes went to another call. */
export async function endOutput(output: OwnWriter, result: CallResult | undefined): Promise<void> {
  try {
    if (!result?.ok) await output.abort(new Error(result?.error.message));
    else if (result.meta.cached) await output.abort(new Error("The call that ran received the bytes."));
    else await output.close();
  } catch {
    // The other end belongs to the caller.
  }
}

/** Cancels the part that the tool did not read, also if no tool ran. */
export async function endBody(body: ReadableStreamDefaultReader<unknown>): Promise<void> {
  try {
    await body.cancel("The call has ended.");
  } catch {
    // It broke off before, or its source is the caller's own.
  }
}
