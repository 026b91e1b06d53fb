import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the official suites are: `KEYHOLE_SUITES`, taken from the root of the project, or beside it. */
const folder = fileURLToPath(
  new URL(`${process.env["KEYHOLE_SUITES"] ?? "../shared/suites"}/`, new URL("../../", import.meta.url)),
);

/** What to call a group of tests that needs the suites, so that its skipping is seen and says what to do. */
export const needsSuites = "(needs the official suites: KEYHOLE_SUITES)";

export const hasSuites: boolean = existsSync(join(folder, "jcs")) && existsSync(join(folder, "blake3"));

if (!hasSuites && process.env["CI"])
  throw new Error(`CI needs the official suites: nothing at ${folder}. Set KEYHOLE_SUITES.`);

export const readSuite = (...path: string[]): string => readFileSync(join(folder, ...path), "utf8");
