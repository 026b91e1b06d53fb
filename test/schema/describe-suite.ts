import { describe, expect, it } from "vitest";
import { suite } from "virtual:json-schema-suite";
import { thorough } from "../support/size.ts";
import { EXPECTED, runFile, type SuiteFile, type SuiteGroup } from "./run-suite.ts";

/** Files of the suite whose outcome depends on the engine: its matcher, its numbers, its text, and the formats, which use all three. */
const byEngine =
  /^(?:anchor|const|content|enum|format|maximum|minimum|exclusive\w+|maxLength|minLength|multipleOf|pattern\w*|uniqueItems|bignum|ecmascript-regex|float-overflow|non-bmp-regex)\.json$/;

/**
 * The official JSON-Schema-Test-Suite. Where it is absent, it is skipped in sight, with the variable to set.
 *
 * @param part `engine`: the files whose outcome depends on the engine; all of them under `npm run test:thorough`
 */
export function describeSuite(part: "whole" | "engine"): void {
  const resources = new Map(suite?.resources);
  describe.skipIf(suite === null)(
    "JSON-Schema-Test-Suite (KEYHOLE_SUITES is the folder of the official suites)",
    () => {
      it("is there", () => {
        expect(suite?.groups.map(({ draft, kind }) => `${draft} ${kind}`)).toEqual([...EXPECTED.keys()]);
      });

      describe.each(suite?.groups ?? [])("$draft $kind", (group) => {
        it.each(filesOf(group, part))("$name", (file) => {
          expect(runFile(file, group, resources).failures).toEqual([]);
        });

        it("is complete", () => {
          const count = group.files.flatMap(({ cases }) => cases.flatMap(({ tests }) => tests)).length;
          expect(count).toBe(EXPECTED.get(`${group.draft} ${group.kind}`));
        });
      });
    },
  );
}

function filesOf({ draft, kind, files }: SuiteGroup, part: "whole" | "engine"): readonly SuiteFile[] {
  if (part === "whole" || thorough) return files;
  // The formats of both drafts are the same code.
  if (kind === "format") return draft === "2020-12" ? files : files.slice(0, 1);
  return files.filter(({ name }) => byEngine.test(name));
}
