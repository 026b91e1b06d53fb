export { type EdgeSettings, isLoopback, readAddress } from "./address.ts";
export { mostOfEdge } from "./bounds.ts";
export { failureOf } from "./failure-from-log.ts";
export { aheadBytes, answerOver, callOver } from "./call.ts";
export { isKnown } from "./known-event.ts";
export { EdgeFault } from "./fault.ts";
export { Edge, type EdgeTransport } from "./http.ts";
export { checkBytes, EdgeOutput } from "./output.ts";
export {
  type EdgePolicy,
  readAuditPage,
  readEvent,
  readGovernance,
  readLog,
  readPreview,
  readQuestions,
  readResult,
  readStanding,
  readTools,
  readVerification,
} from "./wire.ts";
export { isPackageHash } from "./member-faults.ts";
export { type Check, isResultHash, type Verification, verifyAnswer } from "./verify-answer.ts";
export { withDefaults } from "./with-defaults.ts";
