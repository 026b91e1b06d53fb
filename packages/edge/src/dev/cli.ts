#!/usr/bin/env node
const neededMajor = 22;

if (Number.parseInt(process.versions.node) < neededMajor) {
  process.stderr.write(`keyhole-edge needs Node ${neededMajor} or newer; got ${process.versions.node}.\n`);
  process.exit(2);
}

// Not before: an older Node cannot load these modules.
const { runCommand } = await import("./command.ts");
await runCommand(process.argv.slice(2));
