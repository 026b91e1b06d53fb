import { readVersionedId } from "../../support/tool-names.ts";
import type { Effect } from "../../capability/capability.ts";
import type { JsonValue } from "../../json/json.ts";
import type { Mode, Risk, Tier } from "../../tool/manifest.ts";
import type { ArgumentCondition, Passkey, PolicyRule } from "../document/policy.ts";
import type { PasskeyAssertion } from "../proof/proof.ts";

/** The request to an approver: everything that the approval binds. */
export interface ApprovalRequest {
  readonly approvalId: string;
  readonly callId: string;
  readonly sessionId: string;
  readonly caller: string;
  /** `name@version`. */
  readonly tool: string;
  readonly toolHash: string;
  readonly title: string;
  readonly description: string;
  readonly tier: Tier;
  readonly risk: Risk | null;
  readonly effects: readonly Effect[];
  /** The access of the call: the capabilities after all narrowing, one line each. */
  readonly grants: readonly string[];
  /** The exact arguments, defaults filled in. */
  readonly input: JsonValue;
  readonly argsHash: string;
  /**
   * Whether a body comes with the call, which no approver can see. An approval of any scope then
   * holds `once`: the next body is another one.
   */
  readonly hasBody: boolean;
  readonly grantHash: string;
  readonly policyHash: string;
  readonly mode: Mode;
  /** Its grounds: the reason code of the decision, then the ids of the rules that ask. */
  readonly asks: readonly string[];
  /** The policy demands a passkey: a yes counts only with an assertion of one of these, over {@link passkeyChallenge}. */
  readonly passkey?: { readonly rpId: string; readonly keys: readonly Omit<Passkey, "publicKey">[] };
  /** Why it asks: the reasons of these rules, or of the posture. */
  readonly reason: string;
  /** RFC 3339. After it the answer is a denial. */
  readonly expiresAt: string;
}

/**
 * `once`: this call. `session`: the same call again, in this session. `pattern`: calls of this tool, version and caller in this session whose
 * arguments fit; show {@link patternRule} before it is given. `edit`: other arguments, with which the call starts again from its validation.
 */
export type ApprovalAnswer =
  | {
      readonly answer: "allow";
      readonly scope: "once" | "session";
      readonly approver: string;
      readonly passkey?: PasskeyAssertion;
    }
  | {
      readonly answer: "allow";
      readonly scope: "pattern";
      readonly pattern: readonly ArgumentCondition[];
      readonly approver: string;
      readonly passkey?: PasskeyAssertion;
    }
  | { readonly answer: "edit"; readonly input: unknown; readonly approver: string }
  | { readonly answer: "deny"; readonly approver: string; readonly reason?: string };

/**
 * Answers a request. A rejection, a malformed answer and silence until `expiresAt` are denials. `signal` aborts when the approval is closed.
 * The next request comes after the answer, or after the end of `signal`: a person never sees two. A request that closes before its turn never comes.
 *
 * @example
 * const approver = Object.assign(askOnPage, { concurrent: true });
 */
export interface Approver {
  (request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** It shows several requests at once, and an answer names its request: each comes at once. Default `false`. */
  readonly concurrent?: boolean;
}

/** The rule that an approval for an argument pattern becomes. It answers questions of its session and lifts no denial. */
export function patternRule(
  request: Pick<ApprovalRequest, "approvalId" | "tool" | "sessionId" | "caller">,
  pattern: readonly ArgumentCondition[],
  approver: string,
): PolicyRule {
  const { name, version } = readVersionedId(request.tool);
  return {
    id: `approval-${request.approvalId}`,
    effect: "allow",
    when: { tool: [name], version, caller: [request.caller], session: [request.sessionId], arguments: pattern },
    reason: `Approved by ${approver}.`,
  };
}
