/*
 * The texts of every fault of the core, in one module: `CallFault` imports it for the first failure.
 * Nothing decides here. A text is made from values that its fault took along.
 */
export * from "./arrival-texts.ts";
export * from "./decision-texts.ts";
export * from "./hints.ts";
export * from "./run-texts.ts";
