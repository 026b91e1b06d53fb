import type { BoundName } from "../../bounds/bounds.ts";
import type { Limited } from "../../bounds/limiter.ts";
import type { ReasonCode } from "../../policy/proof/proof.ts";
import type { ErrorCode, Hints } from "../../result.ts";

const askUser = "Tell the user, who can ask the operator.";
const later = "Tell the user that the call can continue later.";

/** Before the hints of a refused output. `effects` cannot list what a trusted tool did by itself. */
export const hasRun = "The tool has run: do not repeat a call that changed something.";
export const toolsFault = "The fault is this tool's, not the caller's.";
export const programsFault = "Correct the program: return less, and only plain data.";
const toolsOutput = `${hasRun} ${toolsFault}`;
export const lessInOneCall = "Request less in one call.";

/** The hints of each code, where the fault has none of its own. */
export const defaultHints: Readonly<Record<ErrorCode, Hints>> = {
  TOOL_NOT_FOUND: { hint: "", operatorHint: "Show a model only the tools that `kernel.list()` names." },
  INVALID_INPUT: { hint: "Correct the arguments, then call again.", operatorHint: "" },
  CAPABILITY_DENIED: {
    hint: "Use another tool or other arguments, or tell the user which access is missing.",
    operatorHint: "",
  },
  POLICY_DENIED: {
    hint: "Do not repeat the call. Use another tool or other arguments, or tell the user.",
    operatorHint: "",
  },
  APPROVAL_DENIED: { hint: "Do not repeat the call. Ask the user for the next step.", operatorHint: "" },
  APPROVAL_EXPIRED: {
    hint: "Tell the user that the call needs an approval, then call again.",
    operatorHint: "Make sure that a person answers approval requests, or allow the call by a rule.",
  },
  APPROVAL_UNAVAILABLE: { hint: "Do not repeat the call. Use another tool, or tell the user.", operatorHint: "" },
  IDEMPOTENCY_UNAVAILABLE: { hint: "Call without a key.", operatorHint: "" },
  SUSPENSION_UNAVAILABLE: { hint: later, operatorHint: "" },
  RATE_LIMITED: { hint: "Call again later.", operatorHint: "" },
  TOOL_SET_ASIDE: {
    hint: "Use another tool, or call again later.",
    operatorHint:
      "Correct the tool: it does not end in time. The log has each time as `tool.failed` with the code TIMEOUT.",
  },
  BOUNDS_EXCEEDED: { hint: lessInOneCall, operatorHint: "" },
  TIMEOUT: {
    hint: "Ask for less in one call, or use another tool.",
    operatorHint: "Raise `bounds.timeoutMs` in the tool's manifest, or wherever it is lower.",
  },
  CANCELLED: { hint: "", operatorHint: "" },
  OUT_OF_FUEL: { hint: lessInOneCall, operatorHint: "" },
  OUT_OF_MEMORY: { hint: lessInOneCall, operatorHint: "" },
  ISOLATE_LOST: { hint: "Call again: the next call gets a new isolate.", operatorHint: "" },
  TOOL_ERROR: { hint: "Use other arguments or another tool.", operatorHint: "" },
  INVALID_OUTPUT: { hint: toolsOutput, operatorHint: "Correct the tool's output, or the contract in its manifest." },
  NOT_NORMALIZABLE: { hint: toolsOutput, operatorHint: "Correct the tool: it returns plain JSON data, text or bytes." },
  AUDIT_UNAVAILABLE: { hint: askUser, operatorHint: "Repair the sink, then open a new kernel on it." },
  UNSUPPORTED_HOST: { hint: "Use another tool: this one cannot run here.", operatorHint: "" },
  SUSPENDED: { hint: "The process that resumes the call gets its result.", operatorHint: "" },
  SNAPSHOT_REFUSED: { hint: "Repeat the call if no other kernel resumes it.", operatorHint: "" },
  INTERNAL: { hint: askUser, operatorHint: "Report the bug with `details`: a part of the kernel broke a promise." },
};

/** The hints of a denial, by its reason. */
export const denialHints: Readonly<Record<ReasonCode, Partial<Hints>>> = {
  rule: { operatorHint: "To allow the call, change the rules that `details` names." },
  "rule-error": {
    operatorHint: "Correct the rules that `details` names: the kernel cannot evaluate them, so they deny.",
  },
  rate: { operatorHint: "To allow more calls, raise `rate` of the tool in the policy." },
  posture: {
    operatorHint: "Set a milder posture, or lower the tool's tier. No rule overrides a denial by posture.",
  },
  mode: { operatorHint: "Set a milder mode, when the reason for this one has ended." },
  "tool-mode": { operatorHint: "Set another mode, or change `modes` of the tool in the policy or in its manifest." },
  "tool-size": { hint: "Send less.", operatorHint: "Raise `sizes.inputBytes` of the tool in the policy." },
  "tool-approval": {},
  "capability-denied": {},
  revoked: {},
  approved: {},
  "approval-denied": {},
  "approval-expired": {},
  "approval-void": {},
  "request-denied": {},
  "target-denied": {},
};

/** The lowest of the three holds. */
export function raiseBound(bound: BoundName): string {
  return `Raise \`bounds.${bound}\` in the tool's manifest; where the policy or the call lowers it, raise it there.`;
}

/** Of a call for which there is no room. */
export function limitedHints({ bound, retryAfterMs }: Limited): Hints {
  return {
    hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    operatorHint: raiseBound(bound === "queuedCalls" ? "concurrency" : bound),
  };
}

/** Of a call whose tool waits for itself. */
export const slotHints: Hints = {
  hint: "Call the tool from within itself less deeply.",
  operatorHint: raiseBound("concurrency"),
};
