#!/usr/bin/env node
const neededMajor = 22;

if (Number.parseInt(process.versions.node) < neededMajor) {
  process.stderr.write(`keyhole-edge needs Node ${neededMajor} or newer; got ${process.versions.node}.\n`);
  process.exit(2);
}

// Not before: on an older Node these modules cannot be loaded.
const { runCommand } = await import("./command.ts");
await runCommand(process.argv.slice(2));
