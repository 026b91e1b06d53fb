import { matchesGlob } from "node:path";

/** The browsers that the tests know. */
export type Browser = "chromium" | "firefox" | "webkit";

/** What is the browser's own to hold or to break. Everything else that runs in a browser runs in one of them. */
const engineTests = [
  "test/contract/isolate.browser.test.ts",
  "test/contract/isolate-interpreter.browser.test.ts",
  "test/contract/ten-calls.browser.test.ts",
  "test/wasm/counts.browser.test.ts",
  "test/browser/{policy,hardened}.browser.test.ts",
  "test/hostile/{battery,browser-frame,browser-shell}.browser.test.ts",
  "test/runtimes/*.browser.test.ts",
  "test/realm/*.browser.test.ts",
];

/** What WebKitGTK has no files for. */
const fileTests = "test/brokers/files.browser.test.ts";

/** In the thorough run only. Not in WebKitGTK, which cannot put a stack aside. */
const interpreterTurns = "test/wasm/turns.browser.test.ts";

/** In the thorough run only: its two halves, the frame and the interpreter, each have a file of their own, and the battery attacks both together. Not in WebKitGTK, which stops no thread that executes WebAssembly: what loops there takes its core from later isolates. */
const framedInterpreter = "test/contract/isolate-framed-interpreter.thorough.browser.test.ts";

/**
 * In Chromium, and in the thorough run in all. The contracts of isolates hold the kill in each engine, and the interpreter in its frame; the
 * counts of fuel hold what an engine makes of WebAssembly.
 */
const onceOrThorough = [
  "test/hostile/chaos.browser.test.ts",
  "test/wasm/{commands,interpreter,model,primes,suspend,tools,urls}.browser.test.ts",
];

/** The same two isolates as elsewhere, side by side. */
const toolByTool = "test/contract/isolate-tool-by-tool.thorough.browser.test.ts";

/** The test files of a browser, as patterns of paths. */
export function browserFiles(browser: Browser, isThorough: boolean): string[] {
  if (browser === "chromium") return ["test/**/*.browser.test.ts"];
  const more = isThorough ? onceOrThorough : [];
  if (browser === "webkit") return [...engineTests, ...more];
  return [...engineTests, fileTests, ...more, ...(isThorough ? [interpreterTurns, framedInterpreter, toolByTool] : [])];
}

/** Whether a browser runs a test file. */
export function runsIn(browser: Browser, path: string, isThorough: boolean): boolean {
  if (path.includes(".thorough.") && !isThorough) return false;
  return browserFiles(browser, isThorough).some((pattern) => matchesGlob(path, pattern));
}
