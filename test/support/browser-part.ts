import { server } from "vitest/browser";
import type { Part } from "./part.ts";
import { thorough } from "./size.ts";

/** The whole contract in one browser, and in the others what the engine decides. */
export function wholeIn(browser: "chromium" | "firefox" | "webkit"): Part {
  return server.browser === browser ? "whole" : "engine";
}

/**
 * Whether a module of WebAssembly that never yields is tried. WebKitGTK answers the caller and ends the frame, but stops no
 * thread that executes WebAssembly: each one keeps a core until its fuel is spent, for half a minute, beside all tests that follow.
 */
export const stopsModules: boolean = server.browser !== "webkit" || thorough;
