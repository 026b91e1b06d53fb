import { checkHealth } from "../../operations/health.ts";
import { kernelHealth } from "../../operations/kernel-health.ts";
import { preview, previewOptions } from "../../operations/preview.ts";
import { checkPurity } from "../../operations/verify-pure.ts";
import type { Extension } from "../extension.ts";

/** `kernel.health`, `kernel.verifyPure` and `kernel.preview`, which no call needs. Without it they reject. */
export function operations(): Extension {
  return { name: "operations", operations: { checkHealth, kernelHealth, checkPurity, preview, previewOptions } };
}
