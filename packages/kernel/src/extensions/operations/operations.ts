import type { Extension } from "../extension.ts";

/**
 * `kernel.health`, `kernel.verifyPure` and `kernel.preview`, which no call needs. Without it they
 * reject, and where their module does not load.
 */
export function operations(): Extension {
  return { name: "operations", operations: () => import("../../operations/on-request.ts") };
}
