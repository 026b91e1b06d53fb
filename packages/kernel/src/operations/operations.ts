/* The operations of a kernel that no call needs. */
export { checkHealth } from "./health.ts";
export { kernelHealth } from "./kernel-health.ts";
export { healthOptions, preview, previewOptions } from "./preview.ts";
export { checkPurity } from "./verify-pure.ts";
