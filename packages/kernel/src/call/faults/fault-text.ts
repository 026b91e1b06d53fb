import type { CallError } from "../../result.ts";

/** The texts of an error beside its code. The code's own hints stand in for missing ones. */
export interface FaultText extends Partial<Omit<CallError, "code" | "message">> {
  readonly message: string;
}
