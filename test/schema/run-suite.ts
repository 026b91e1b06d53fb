import { compileSchema } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
import { idna } from "@keyhole/kernel/schema/idna";

export interface SuiteFile {
  readonly name: string;
  readonly cases: readonly {
    readonly description: string;
    readonly schema: unknown;
    readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
  }[];
}

export interface SuiteGroup {
  readonly draft: "2020-12" | "draft-07";
  readonly kind: "required" | "format" | "optional";
  readonly files: readonly SuiteFile[];
}

export interface Suite {
  readonly resources: readonly (readonly [string, unknown])[];
  readonly groups: readonly SuiteGroup[];
}

/** How many tests there are, all of which pass. */
export const EXPECTED: ReadonlyMap<string, number> = new Map([
  ["2020-12 required", 1299],
  ["2020-12 format", 764],
  ["2020-12 optional", 162],
  ["draft-07 required", 927],
  ["draft-07 format", 676],
  ["draft-07 optional", 118],
]);

const hasOwnProto = (value: unknown): boolean => JSON.stringify(value).includes('"__proto__"');

/** Runs one file; gives the number of tests and a line for each that went wrong. */
export function runFile(
  file: SuiteFile,
  group: SuiteGroup,
  resources: ReadonlyMap<string, unknown>,
): { readonly tests: number; readonly failures: readonly string[] } {
  const failures: string[] = [];
  let tests = 0;
  for (const { description, schema, tests: list } of file.cases) {
    const formats = group.kind === "required" ? "annotate" : "assert";
    const compiled = compileSchema(schema, {
      draft: group.draft,
      formats,
      resources,
      idna,
      explain,
      defaults: "ignore",
    });
    for (const test of list) {
      tests++;
      const name = `${file.name}: ${description}: ${test.description}`;
      if (!compiled.ok) {
        failures.push(`${name}: ${compiled.error.message}`);
        continue;
      }
      if (compiled.validator.check(test.data) !== test.valid) failures.push(`${name}: check`);
      // `validate` refuses members named __proto__ before any keyword is looked at.
      const result = compiled.validator.validate(test.data);
      if (result.ok !== test.valid && !hasOwnProto(test.data)) failures.push(`${name}: validate`);
      if (!result.ok && (result.errors.length === 0 || result.errors.some((error) => error.keyword === "limit")))
        failures.push(`${name}: errors`);
    }
  }
  return { tests, failures };
}
