#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { runCommand } from "./command.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    keys: { type: "string" },
    log: { type: "string" },
    policy: { type: "string" },
    tool: { type: "string" },
    input: { type: "string" },
    json: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const { exitCode, output } = await runCommand(positionals, values, (path) => readFile(path, "utf8"));
process.stdout.write(output);
process.exitCode = exitCode;
