#!/usr/bin/env node
import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { nodeFault } from "./needed-node.ts";

const fault = nodeFault();
if (fault !== undefined) {
  process.stderr.write(`keyhole ${fault}\n`);
  process.exit(2);
}

// Not before: on an older Node these modules throw.
const { runCommand } = await import("./command.ts");
const { exitCode, output } = await runCommand(process.argv.slice(2), {
  text: (path) => readFile(path, "utf8"),
  chunks: (path) => createReadStream(path, { highWaterMark: 262_144 }),
  write: (path, bytes) => writeFile(path, bytes),
});
process.stdout.write(output);
process.exitCode = exitCode;
