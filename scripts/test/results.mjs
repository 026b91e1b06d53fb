/**
 * The messages of the reporter.
 *
 * @typedef {{ project: string, file: string }} Place
 * @typedef {{ type: "planned", files: number }
 *   | ({ type: "file-started" } & Place)
 *   | ({ type: "test-started", test: string } & Place)
 *   | ({ type: "test-ended", test: string, state: "passed" | "failed" | "skipped", errors: string[] } & Place)
 *   | ({ type: "file-ended", ms: number, errors: string[] } & Place)
 *   | { type: "ended", errors: string[] }} Message
 *
 * @typedef {Place & { test: string | undefined, errors: string[] }} Failure
 * @typedef {Place & { tests: number, failed: number, ms: number }} FileResult
 */

/** @param {string} text a word for a POSIX shell */
function quoted(text) {
  return /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** @param {string} test The title becomes a pattern that matches only itself. */
function patternOf(test) {
  return `^${test.replaceAll(" > ", " ").replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
}

/** @param {Failure} failure @returns {string} the command that runs the failed test alone */
export function commandOf({ project, file, test }) {
  const only = test === undefined ? "" : ` -t ${quoted(patternOf(test))}`;
  return `npm test -- ${quoted(file)} --project ${project}${only}`;
}

/** All that is known of a run so far, from the messages of its reporter. */
export class Results {
  /** @type {Map<string, { passed: number, failed: number, skipped: number }>} by project */
  counts = new Map();
  /** @type {Failure[]} */
  failures = [];
  /** @type {FileResult[]} */
  files = [];
  /** Files that the run holds, once it has begun. @type {number | undefined} */
  planned;
  /** @readonly @type {Map<string, Place & { tests: Set<string>, ended: number, failed: number }>} */
  #open = new Map();

  /** @param {Place} place */
  #of({ project, file }) {
    const id = `${project} ${file}`;
    const found = this.#open.get(id) ?? { project, file, tests: new Set(), ended: 0, failed: 0 };
    this.#open.set(id, found);
    return found;
  }

  /** @param {string} project */
  #countsOf(project) {
    const counts = this.counts.get(project) ?? { passed: 0, failed: 0, skipped: 0 };
    this.counts.set(project, counts);
    return counts;
  }

  /**
   * @param {Message} message
   * @returns {FileResult | undefined} the file that ended with this message
   */
  take(message) {
    switch (message.type) {
      case "planned":
        this.planned = message.files;
        return undefined;
      case "file-started":
        this.#of(message);
        return undefined;
      case "test-started":
        this.#of(message).tests.add(message.test);
        return undefined;
      case "test-ended":
        this.#takeTest(message);
        return undefined;
      case "file-ended":
        return this.#takeFile(message);
      case "ended":
        for (const error of message.errors) this.#fail({ project: "", file: "", test: undefined, errors: [error] });
        return undefined;
    }
  }

  /** @param {Message & { type: "test-ended" }} message */
  #takeTest({ test, state, errors, ...place }) {
    const open = this.#of(place);
    open.tests.delete(test);
    open.ended += 1;
    if (state === "failed") {
      open.failed += 1;
      this.#fail({ project: place.project, file: place.file, test, errors });
    } else this.#countsOf(place.project)[state] += 1;
  }

  /** @param {Message & { type: "file-ended" }} message @returns {FileResult} */
  #takeFile({ project, file, ms, errors }) {
    const open = this.#of({ project, file });
    this.#open.delete(`${project} ${file}`);
    for (const error of errors) this.#fail({ project, file, test: undefined, errors: [error] });
    this.#countsOf(project);
    const result = { project, file, tests: open.ended, failed: open.failed + errors.length, ms };
    this.files.push(result);
    return result;
  }

  /** @param {Failure} failure */
  #fail(failure) {
    this.failures.push(failure);
    this.#countsOf(failure.project).failed += 1;
  }

  /** @returns {string[]} one line per file that has begun and not ended, with the tests in it that are running */
  running() {
    return [...this.#open.values()]
      .filter(({ tests, ended }) => tests.size > 0 || ended > 0)
      .map(({ project, file, tests }) => [`${project} ${file}`, ...[...tests].map((test) => `    ${test}`)].join("\n"));
  }

  /** @param {number} count @returns {FileResult[]} the files that took longest, the slowest first */
  slowest(count) {
    return this.files.toSorted((one, other) => other.ms - one.ms).slice(0, count);
  }
}
