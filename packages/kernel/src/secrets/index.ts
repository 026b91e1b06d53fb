/*
 * `@keyhole/kernel/secrets`: values that tools use and never see. A kernel without secrets does not carry it.
 */
export { secretKeeper, type SecretStore } from "./keeper.ts";
