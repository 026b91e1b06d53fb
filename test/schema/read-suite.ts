import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { metaSchemas } from "./meta-schemas/index.ts";
import type { Suite, SuiteFile, SuiteGroup } from "./run-suite.ts";

/** Where the official suites are: `KEYHOLE_SUITES`, taken from the root of the project, or beside it. */
const suitesFolder: string = fileURLToPath(
  new URL(`${process.env["KEYHOLE_SUITES"] ?? "../shared/suites"}/`, new URL("../../", import.meta.url)),
);

const json = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

function files(folder: string): SuiteFile[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort();
  return names.map((name) => ({ name, cases: json(join(folder, name)) as SuiteFile["cases"] }));
}

function documents(folder: string, uri: string): [string, unknown][] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? documents(join(folder, entry.name), `${uri}${entry.name}/`)
      : [[`${uri}${entry.name}`, json(join(folder, entry.name))]],
  );
}

/** The JSON-Schema-Test-Suite; undefined where the folder is absent, which is an error in CI. */
export function readSuite(): Suite | undefined {
  const root = join(suitesFolder, "json-schema-test-suite");
  if (!existsSync(root)) {
    if (process.env["CI"])
      throw new Error(`CI needs the official suites: there is nothing at ${root}. Set KEYHOLE_SUITES.`);
    return undefined;
  }
  const group = (draft: SuiteGroup["draft"], kind: SuiteGroup["kind"]): SuiteGroup => {
    const folder = { required: "", format: "optional/format", optional: "optional" }[kind];
    return { draft, kind, files: files(join(root, "tests", draft === "2020-12" ? "draft2020-12" : "draft7", folder)) };
  };
  const kinds = ["required", "format", "optional"] as const;
  return {
    resources: [...documents(join(root, "remotes"), "http://localhost:1234/"), ...metaSchemas],
    groups: (["2020-12", "draft-07"] as const).flatMap((draft) => kinds.map((kind) => group(draft, kind))),
  };
}
