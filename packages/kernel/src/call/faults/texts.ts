/* The texts of every fault of the core. Nothing decides here. */
export * from "./arrival-texts.ts";
export * from "./decision-texts.ts";
export * from "./hints.ts";
export * from "./run-texts.ts";
