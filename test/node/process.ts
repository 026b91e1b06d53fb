/** Started by tests as a process of its own: runs a file's default export with what it is given, and prints what comes of it. */
import { runOnNode } from "../support/run-on-node.ts";

const [file = "", given = "null"] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await runOnNode(file, JSON.parse(given))));
