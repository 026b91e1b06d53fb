import type { CallError } from "../../result.ts";

/** What an error says beside its code. Hints that are not given are those of the code. */
export interface FaultText extends Partial<Omit<CallError, "code" | "message">> {
  readonly message: string;
}
