// Writes docs/errors/messages.md, and the tables of docs/errors/README.md. Tests hold both against their sources.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorsReadme } from "../test/support/error-table.ts";
import { messagesPage } from "../test/support/messages.ts";
import { root } from "./project.mjs";

writeFileSync(join(root, "docs", "errors", "messages.md"), messagesPage());
writeFileSync(join(root, "docs", "errors", "README.md"), errorsReadme());
