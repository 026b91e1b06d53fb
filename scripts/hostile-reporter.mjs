import { writeFileSync } from "node:fs";

/** Notes by project and name what came of each test of the battery, where `KEYHOLE_HOSTILE_RESULTS` says, for `scripts/hostile.mjs`. */
export default class HostileReporter {
  /** @param {readonly import("vitest/node").TestModule[]} modules */
  onTestRunEnd(modules) {
    /** @type {Record<string, Record<string, "held" | "ESCAPED">>} */
    const results = {};
    for (const module of modules) {
      if (!module.moduleId.includes("/battery.")) continue;
      // Node's battery has a process of its own; its platform is Node all the same.
      const ofProject = (results[module.project.name.replace(/-own$/, "")] ??= {});
      for (const test of module.children.allTests()) {
        // Attempts have ids, the other tests are sentences.
        if (!test.name.includes(" ")) ofProject[test.name] = test.result().state === "passed" ? "held" : "ESCAPED";
      }
    }
    const path = process.env["KEYHOLE_HOSTILE_RESULTS"];
    if (path) writeFileSync(path, JSON.stringify(results));
  }
}
