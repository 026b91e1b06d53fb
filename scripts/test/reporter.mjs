/** @typedef {{ project: string, file: string }} Place */

/** @param {import("vitest/node").TestModule} module @returns {Place} */
function placeOf(module) {
  return { project: module.project.name, file: module.relativeModuleId };
}

/** @typedef {{ message?: string, stack?: string, diff?: string }} Thrown */

/** @param {readonly Thrown[] | undefined} errors */
function textsOf(errors) {
  return (errors ?? []).map(({ message = "", stack = "", diff }) => {
    const text = stack.includes(message) ? stack : `${message}\n${stack}`;
    return diff === undefined ? text : `${text}\n${diff}`;
  });
}

/** @param {import("vitest/node").TestCase} test */
function pathOf(test) {
  return test.fullName;
}

/**
 * Sends each step of a run to the parent process as it happens, so that a run that is stopped loses no result. The
 * messages are those of `Message` in results.mjs.
 */
export default class MessageReporter {
  /** @param {import("./results.mjs").Message} message */
  #send(message) {
    process.send?.(message);
  }

  /** @param {readonly import("vitest/node").TestSpecification[]} specifications */
  onTestRunStart(specifications) {
    this.#send({ type: "planned", files: specifications.length });
  }

  /** @param {import("vitest/node").TestModule} module */
  onTestModuleQueued(module) {
    this.#send({ type: "file-started", ...placeOf(module) });
  }

  /** @param {import("vitest/node").TestCase} test */
  onTestCaseReady(test) {
    this.#send({ type: "test-started", ...placeOf(test.module), test: pathOf(test) });
  }

  /** @param {import("vitest/node").TestCase} test */
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    const found = { ...placeOf(test.module), test: pathOf(test), errors: textsOf(errors) };
    this.#send({ type: "test-ended", ...found, state: state === "pending" ? "failed" : state });
  }

  /** @param {import("vitest/node").TestModule} module */
  onTestModuleEnd(module) {
    const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
    const { duration, setupDuration, collectDuration } = module.diagnostic();
    this.#send({
      type: "file-ended",
      ...placeOf(module),
      ms: duration + setupDuration + collectDuration,
      errors: textsOf([...module.errors(), ...suites]),
    });
  }

  /**
   * @param {readonly import("vitest/node").TestModule[]} _modules
   * @param {readonly Thrown[]} unhandled
   */
  onTestRunEnd(_modules, unhandled) {
    this.#send({ type: "ended", errors: textsOf(unhandled) });
  }
}
