/*
 * The operations that no call needs, in one module: the extension loads it for the first of them.
 */
export { checkHealth } from "./health.ts";
export { kernelHealth } from "./kernel-health.ts";
export { healthOptions, preview, previewOptions } from "./preview.ts";
export { checkPurity } from "./verify-pure.ts";
