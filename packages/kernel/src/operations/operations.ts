import { checkHealth } from "./health.ts";
import { kernelHealth } from "./kernel-health.ts";
import { healthOptions, preview, previewOptions } from "./preview.ts";
import { checkPurity } from "./verify-pure.ts";

interface Operations {
  readonly checkHealth: typeof checkHealth;
  readonly kernelHealth: typeof kernelHealth;
  readonly healthOptions: typeof healthOptions;
  readonly preview: typeof preview;
  readonly previewOptions: typeof previewOptions;
  readonly checkPurity: typeof checkPurity;
}

/** The operations of a kernel that no call needs: `health`, `verifyPure` and `preview`. */
export function operations(): Operations {
  return { checkHealth, kernelHealth, healthOptions, preview, previewOptions, checkPurity };
}
