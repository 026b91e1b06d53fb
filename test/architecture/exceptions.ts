/**
 * Files and functions that break a rule of the architecture test. The lists can only shrink: the test fails when a fault
 * is not listed, and when a listed one is gone.
 */

/** Groups of files that import each other in a circle, at least once as a type. */
export const circles: readonly (readonly string[])[] = [];

/** Files of more than 300 lines. */
export const longFiles: readonly string[] = ["test/e2e/playground.test.ts"];

/** Functions of more than 60 lines: the path, a space and the name. Contracts are functions that hold tests. */
export const longFunctions: readonly string[] = [
  "packages/kernel/src/hash/blake3-compress.ts compress",
  "test/audit/replay-hosts.ts describeReplay",
  "test/audit/replay/last-week.ts entriesOf",
  "test/contract/broker.ts filesContract",
  "test/contract/catalogue.ts describeCatalogue",
  "test/contract/code-mode.ts describeCodeMode",
  "test/contract/db.ts dbContract",
  "test/contract/db-engine.ts dbEngineContract",
  "test/contract/determinism.ts describeDeterminism",
  "test/contract/isolate-any.ts anyIsolateContract",
  "test/contract/isolate-body-kernel.ts bodyKernelContract",
  "test/contract/isolate-body.ts bodyPortContract",
  "test/contract/isolate-bytes.ts bytesContract",
  "test/contract/isolate-port.ts portContract",
  "test/contract/isolate-stream-kernel.ts streamKernelContract",
  "test/contract/isolate-stream.ts streamPortContract",
  "test/contract/isolate.ts kernelContract",
  "test/contract/kv.ts kvContract",
  "test/contract/sink.ts describeSink",
  "test/contract/spawn.ts describeSpawn",
  "test/contract/suspend.ts describeSuspendedCalls",
  "test/wasm/commands.shared.ts describeCommands",
  "test/wasm/interpreter.shared.ts describeInterpreter",
  "test/wasm/spec.ts play",
  "test/wasm/suspend.shared.ts describeSuspension",
  "test/wasm/tools.shared.ts describeWasmHost",
  "test/wasm/turns.shared.ts describeTurns",
];
