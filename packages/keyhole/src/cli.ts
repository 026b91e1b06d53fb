#!/usr/bin/env node
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";

const neededMajor = 22;
const { node } = process.versions;
if (Number.parseInt(node) < neededMajor) {
  process.stderr.write(`keyhole needs Node ${neededMajor} or newer; got ${node}.\n`);
  process.exit(2);
}

// Not before: on an older Node these modules throw.
const { runCommand } = await import("./command/run-command.ts");
const { askAt } = await import("./command/terminal-ask.ts");

const interrupted = new AbortController();
process.on("SIGINT", () => {
  // A verb that does not end by itself is left at the second one.
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort(new Error("interrupted"));
});
// The reader may have read enough: `keyhole log show audit.jsonl | head`.
process.stdout.on("error", () => process.exit(0));

const {
  exitCode,
  output,
  errorOutput = "",
} = await runCommand(process.argv.slice(2), {
  files: {
    text: (path) => readFile(path, "utf8"),
    chunks: (path) => createReadStream(path, { highWaterMark: 262_144 }),
    write: (path, bytes) => writeFile(path, bytes),
  },
  folder: process.cwd(),
  program: [process.execPath, fileURLToPath(import.meta.url)],
  columns: process.stdout.columns ?? 80,
  signal: interrupted.signal,
  async print(text) {
    // Of a slow reader's log only as much is in memory as the pipe holds.
    if (!process.stdout.write(text)) await once(process.stdout, "drain");
  },
  note: (text) => void process.stderr.write(text),
  ...(process.stdin.isTTY &&
    process.stderr.isTTY && {
      ask: (question: string, signal: AbortSignal) =>
        askAt({ input: process.stdin, output: process.stderr, interrupted }, question, signal),
    }),
});
process.stderr.write(errorOutput);
process.exitCode = exitCode;
// Something of the verb may still hold the process: an isolate's thread, a watched folder.
process.stdout.write(output, () => process.exit());
