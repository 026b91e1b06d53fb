// Writes docs/errors/messages.md. A test holds the page against the sources.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { messagesPage } from "../test/support/messages.ts";
import { root } from "./project.mjs";

writeFileSync(join(root, "docs", "errors", "messages.md"), messagesPage());
