import { lineOf } from "./clean.ts";

export interface FailedTest {
  readonly name: string;
  /** The class, file or suite that it belongs to, as the runner says it. */
  readonly suite: string;
  readonly message: string;
}

export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The first of the tests that failed. */
  readonly failures: readonly FailedTest[];
}

/** UTF-16 units of a message that are kept. */
export const messageLength = 2_000;
const nameLength = 500;
const maxFailures = 100;

/** Counts tests as a parser meets them. Keeps the first failures alone, each text cut and in one line. */
export class ReportBuilder {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #failures: FailedTest[] = [];

  add(outcome: "passed" | "failed" | "skipped", test: FailedTest): void {
    this.#counts[outcome]++;
    if (outcome !== "failed" || this.#failures.length >= maxFailures) return;
    this.#failures.push({
      name: lineOf(test.name, nameLength),
      suite: lineOf(test.suite, nameLength),
      message: lineOf(test.message.trim(), messageLength),
    });
  }

  report(): TestReport {
    return { ...this.#counts, failures: this.#failures };
  }
}
