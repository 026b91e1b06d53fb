/*
 * `@keyhole/kernel/secrets`: values that tools use and never see. A kernel without secrets does not carry it.
 */
export { secretKeeper } from "./keeper.ts";
export type { SecretStore } from "./source.ts";
