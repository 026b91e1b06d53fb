import type { Setup, SetupError } from "../../result.ts";

/** A member of a policy document that is not as it has to be. */
export interface DocumentFault {
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

export function invalidPolicy(path: string, message: string, hint = ""): Setup<never> {
  return { ok: false, error: { code: "INVALID_POLICY", path, message, hint } };
}

/** One line for the operator. A message of the schema begins with its path already. */
export function refusalText({ code, path, message, hint }: SetupError): string {
  const text = path !== "" && message.startsWith(`${path}: `) ? message : `${path || "the root"}: ${message}`;
  return `${code} at ${text} ${hint}`.trim();
}
