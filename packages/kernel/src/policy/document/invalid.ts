import type { Setup } from "../../result.ts";

export function invalidPolicy(path: string, message: string, hint = ""): Setup<never> {
  return { ok: false, error: { code: "INVALID_POLICY", path, message, hint } };
}
