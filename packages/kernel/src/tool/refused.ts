import type { SetupError, SetupErrorCode } from "../result.ts";

/** The refusal of a package. */
export function refused(
  path: string,
  message: string,
  hint = "",
  code: SetupErrorCode = "INVALID_MANIFEST",
): { readonly ok: false; readonly error: SetupError } {
  return { ok: false, error: { code, path, message, hint } };
}

export function quote(text: string): string {
  return JSON.stringify(text.slice(0, 120));
}
