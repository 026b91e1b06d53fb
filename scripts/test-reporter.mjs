import { writeFileSync } from "node:fs";

/**
 * Counts tests per project and writes them where `KEYHOLE_TEST_COUNTS` says, for `scripts/test.mjs`.
 * A file that fails outside of its tests, and an error that no test owns, count as one failure each.
 */
export default class CountReporter {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    /** @type {Record<string, { passed: number, failed: number, skipped: number }>} */
    const projects = {};
    for (const module of modules) {
      const counts = (projects[module.project.name] ??= { passed: 0, failed: 0, skipped: 0 });
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === "pending" ? "failed" : state] += 1;
      }
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    }
    const path = process.env["KEYHOLE_TEST_COUNTS"];
    if (path) writeFileSync(path, JSON.stringify({ projects, unhandledErrors: unhandledErrors.length }));
  }
}
