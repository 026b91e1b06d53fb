// Writes docs/errors/messages.md, the facts and examples of the page of each code, and the tables of docs/errors/README.md.
// Tests hold all of them against their sources.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorPages } from "../test/support/error-pages.ts";
import { errorsReadme } from "../test/support/error-table.ts";
import { messagesPage } from "../test/support/messages.ts";
import { root } from "./project.mjs";

writeFileSync(join(root, "docs", "errors", "messages.md"), messagesPage());
for (const [path, text] of await errorPages()) writeFileSync(join(root, path), text);
writeFileSync(join(root, "docs", "errors", "README.md"), errorsReadme());
// A scenario leaves a call open for ever.
process.exit(0);
