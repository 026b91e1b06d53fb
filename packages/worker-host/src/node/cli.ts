#!/usr/bin/env node
import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { runCommand } from "./command.ts";

const neededMajor = 24;
if (Number.parseInt(process.versions.node) < neededMajor) {
  process.stderr.write(`keyhole needs Node ${neededMajor} or later; this is ${process.version}.\n`);
  process.exit(2);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    keys: { type: "string" },
    key: { type: "string" },
    checkpoint: { type: "string" },
    log: { type: "string" },
    policy: { type: "string" },
    tool: { type: "string" },
    input: { type: "string" },
    out: { type: "string" },
    withheld: { type: "boolean" },
    json: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const { key, ...others } = values;
const { exitCode, output } = await runCommand(positionals, key === undefined ? others : { keys: key, ...others }, {
  text: (path) => readFile(path, "utf8"),
  chunks: (path) => createReadStream(path, { highWaterMark: 262_144 }),
  write: (path, bytes) => writeFile(path, bytes),
});
process.stdout.write(output);
process.exitCode = exitCode;
