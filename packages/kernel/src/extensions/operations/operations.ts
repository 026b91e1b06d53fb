import * as all from "../../operations/operations.ts";
import type { Extension } from "../extension.ts";

/** `kernel.health`, `kernel.verifyPure` and `kernel.preview`, which no call needs. Without it they reject. */
export function operations(): Extension {
  return { name: "operations", operations: all };
}
