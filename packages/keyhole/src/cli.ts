#!/usr/bin/env node
import { once } from "node:events";
import { createReadStream } from "node:fs";
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
const { lineAsker } = await import("@keyhole/worker-host/node/terminal");
const { outlet } = await import("./command/terminal-text.ts");
const { writeWhole } = await import("./command/whole-file.ts");
const print = outlet(process.stdout);
const note = outlet(process.stderr);

const askLine = lineAsker();

const interrupted = new AbortController();
process.on("SIGINT", () => {
  // The second one leaves a verb that does not end.
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort(new Error("interrupted"));
});
// A verb that listens by itself ends in order. Any other one ends here, and its drafts with it.
for (const [signal, exitCode] of [
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(exitCode);
  });
// The reader may have read enough: `keyhole log show audit.jsonl | head`.
process.stdout.on("error", () => process.exit(0));

const {
  exitCode,
  output,
  errorOutput = "",
} = await runCommand(process.argv.slice(2), {
  files: {
    chunks: (path) => createReadStream(path, { highWaterMark: 262_144 }),
    write: writeWhole,
  },
  folder: process.cwd(),
  program: [process.execPath, fileURLToPath(import.meta.url)],
  columns: process.stdout.columns ?? 80,
  signal: interrupted.signal,
  async print(text) {
    // Of a slow reader's log only as much is in memory as the pipe holds.
    if (!print(text)) await once(process.stdout, "drain");
  },
  note: (text) => void note(text),
  ...(process.stdin.isTTY &&
    process.stderr.isTTY && {
      ask: (prompt: string, signal: AbortSignal, question?: string) =>
        askLine(prompt, AbortSignal.any([signal, interrupted.signal]), question),
    }),
});
note(errorOutput);
process.exitCode = exitCode;
// Something of the verb may still hold the process: an isolate's thread, a watched folder.
print(output, () => process.exit());
