import { describe, expect, it } from "vitest";
import { suite } from "virtual:json-schema-suite";
import { EXPECTED, runFile } from "./run-suite.ts";

/** The official JSON-Schema-Test-Suite, the same on every runtime. Without it, it is skipped in sight, with the variable to set. */
export function describeSuite(): void {
  const resources = new Map(suite?.resources);
  describe.skipIf(suite === null)(
    "JSON-Schema-Test-Suite (KEYHOLE_SUITES is the folder of the official suites)",
    () => {
      it("is there", () => {
        expect(suite?.groups.map(({ draft, kind }) => `${draft} ${kind}`)).toEqual([...EXPECTED.keys()]);
      });

      describe.each(suite?.groups ?? [])("$draft $kind", (group) => {
        it.each(group.files)("$name", (file) => {
          expect(runFile(file, group, resources).failures).toEqual([]);
        });

        it("is complete", () => {
          const count = group.files.reduce((sum, file) => sum + runFile(file, group, resources).tests, 0);
          expect(count).toBe(EXPECTED.get(`${group.draft} ${group.kind}`));
        });
      });
    },
  );
}
