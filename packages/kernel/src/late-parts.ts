import { loadReader } from "./audit/late-reader.ts";
import { loadTexts } from "./call/faults/fault.ts";

/**
 * Loads what a kernel loads when it first needs it: the texts of errors, and the reader of a log that
 * has events. For a program that can load no module later, such as a Durable Object in
 * `blockConcurrencyWhile`. Without it a part that does not load changes no decision.
 *
 * @throws the platform's error where a module does not load
 * @example
 * await loadLateParts();
 */
export async function loadLateParts(): Promise<void> {
  await Promise.all([loadReader(), loadTexts()]);
}
