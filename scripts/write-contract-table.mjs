// Writes the table of contracts into docs/internals/contracts.md. A test holds the page against the test files.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withContracts } from "../test/support/contract-table.ts";
import { root } from "./project.mjs";

const path = join(root, "docs", "internals", "contracts.md");
writeFileSync(path, withContracts(readFileSync(path, "utf8")));
