import type { Setup } from "../../result.ts";

/** A member of a policy document that is not as it has to be. */
export interface DocumentFault {
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

export function invalidPolicy(path: string, message: string, hint = ""): Setup<never> {
  return { ok: false, error: { code: "INVALID_POLICY", path, message, hint } };
}
