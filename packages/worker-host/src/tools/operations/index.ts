import type { PackageOf, ToolPackage } from "@keyhole/kernel";
import type checkProcessHealthTool from "./check-process-health.ts";
import checkProcessHealthPackage from "keyhole:./check-process-health.ts";
import type gitStatusTool from "./git-status.ts";
import gitStatusPackage from "keyhole:./git-status.ts";
import type readSystemLogsTool from "./read-system-logs.ts";
import readSystemLogsPackage from "keyhole:./read-system-logs.ts";
import type runLinterTool from "./run-linter.ts";
import runLinterPackage from "keyhole:./run-linter.ts";
import type runTestsTool from "./run-tests.ts";
import runTestsPackage from "keyhole:./run-tests.ts";
import type systemMetricsSnapshotTool from "./system-metrics-snapshot.ts";
import systemMetricsSnapshotPackage from "keyhole:./system-metrics-snapshot.ts";

export const checkProcessHealth: PackageOf<typeof checkProcessHealthTool> = checkProcessHealthPackage as PackageOf<
  typeof checkProcessHealthTool
>;
export const gitStatus: PackageOf<typeof gitStatusTool> = gitStatusPackage as PackageOf<typeof gitStatusTool>;
export const readSystemLogs: PackageOf<typeof readSystemLogsTool> = readSystemLogsPackage as PackageOf<
  typeof readSystemLogsTool
>;
export const runLinter: PackageOf<typeof runLinterTool> = runLinterPackage as PackageOf<typeof runLinterTool>;
export const runTests: PackageOf<typeof runTestsTool> = runTestsPackage as PackageOf<typeof runTestsTool>;
export const systemMetricsSnapshot: PackageOf<typeof systemMetricsSnapshotTool> =
  systemMetricsSnapshotPackage as PackageOf<typeof systemMetricsSnapshotTool>;

/** The tools of an operations agent, sorted by name. Each runs programs of the host. */
export const operationsTools: readonly ToolPackage[] = [
  checkProcessHealth,
  gitStatus,
  readSystemLogs,
  runLinter,
  runTests,
  systemMetricsSnapshot,
];
