import { describe, expect, it } from "vitest";
import { suite } from "virtual:json-schema-suite";
import { EXPECTED, runFile } from "./run-suite.ts";

/** The official JSON-Schema-Test-Suite, the same on every runtime. */
export function describeSuite(): void {
  if (suite === null) {
    describe.skip("JSON-Schema-Test-Suite: not found, set KEYHOLE_SUITES to the folder of the official suites", () => {
      it("is skipped", () => {});
    });
    return;
  }
  const resources = new Map(suite.resources);
  describe.each(suite.groups)("JSON-Schema-Test-Suite $draft $kind", (group) => {
    it.each(group.files)("$name", (file) => {
      expect(runFile(file, group, resources).failures).toEqual([]);
    });

    it("is complete", () => {
      const count = group.files.reduce((sum, file) => sum + runFile(file, group, resources).tests, 0);
      expect(count).toBe(EXPECTED.get(`${group.draft} ${group.kind}`));
    });
  });
}
