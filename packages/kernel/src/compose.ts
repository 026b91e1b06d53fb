/*
 * `@keyhole/kernel/compose`: a kernel of parts, for a bundle whose bytes count. What is not imported is not in it.
 */
export { composeKernel } from "./kernel.ts";
export type { ComposedKernelOptions } from "./kernel-api.ts";
export { approvals } from "./extensions/approvals/approvals.ts";
export type { Extension } from "./call/extension.ts";
export { idempotency } from "./extensions/idempotency/idempotency.ts";
export { nested } from "./call/nested/nested.ts";
export { pureCache } from "./extensions/pure-cache/pure-cache.ts";
export { retention } from "./extensions/retention/retention.ts";
export { retries } from "./extensions/retries/retries.ts";
export { modeTriggers } from "./extensions/mode-triggers/mode-triggers.ts";
export { operations } from "./operations/operations.ts";
export { checkPolicy } from "./policy/document/load.ts";
export { formatOf } from "./schema/formats/index.ts";
export { linearPatterns } from "./schema/regex/pattern.ts";
