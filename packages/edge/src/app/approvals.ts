import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type ArgumentCondition,
  type PasskeyAssertion,
  patternFault,
} from "@keyhole/kernel";
import { type Check, checkOf } from "./check.ts";
import { HttpRefusal } from "./problem.ts";

interface AnswerBody {
  readonly answer: "allow" | "edit" | "deny";
  readonly scope?: "once" | "session" | "pattern";
  readonly pattern?: readonly unknown[];
  readonly input?: unknown;
  readonly reason?: string;
  readonly passkey?: PasskeyAssertion;
}

/** base64url. */
const part = { type: "string", minLength: 1, maxLength: 4_096 } as const;

/** The body of an answer. {@link answerOf} checks which members belong together. */
export const answerBody: Check<AnswerBody> = checkOf({
  type: "object",
  properties: {
    answer: { enum: ["allow", "edit", "deny"] },
    scope: { enum: ["once", "session", "pattern"] },
    pattern: { type: "array" },
    input: {},
    reason: { type: "string", maxLength: 500 },
    passkey: {
      type: "object",
      properties: { credentialId: part, authenticatorData: part, clientDataJSON: part, signature: part },
      required: ["credentialId", "authenticatorData", "clientDataJSON", "signature"],
      additionalProperties: false,
    },
  },
  required: ["answer"],
  additionalProperties: false,
});

/** Which members belong to which answer. */
const membersOf = {
  allow: ["answer", "scope", "pattern", "passkey"],
  edit: ["answer", "input"],
  deny: ["answer", "reason", "scope"],
} as const satisfies Record<AnswerBody["answer"], readonly (keyof AnswerBody)[]>;

/**
 * Makes an answer of a body. The edge refuses an answer that the kernel would take for malformed, and so for a denial: the question stays open.
 *
 * @throws {HttpRefusal}
 */
export function answerOf(body: AnswerBody, request: ApprovalRequest, approver: string): ApprovalAnswer {
  const members: readonly string[] = membersOf[body.answer];
  // As the kernel ignores the scope of a denial.
  const stray = Object.keys(body).find((key) => !members.includes(key));
  if (stray !== undefined) throw refused(`${JSON.stringify(stray)} does not belong to the answer "${body.answer}"`);
  if (body.answer === "deny")
    return { answer: "deny", approver, ...(body.reason !== undefined && { reason: body.reason }) };
  if (body.answer === "edit") {
    if (!Object.hasOwn(body, "input")) throw refused('the answer "edit" needs the new arguments as "input"');
    return { answer: "edit", input: body.input, approver };
  }
  const { scope = "once", pattern, passkey } = body;
  if (request.passkey && !passkey) throw refused("the policy demands a passkey; send its assertion as `passkey`");
  const signed = { approver: approverOf(request, passkey) ?? approver, ...(passkey && { passkey }) };
  if (scope !== "pattern") {
    if (pattern !== undefined) throw refused('"pattern" belongs to the scope "pattern"');
    return { answer: "allow", scope, ...signed };
  }
  const fault = patternFault(request, pattern);
  if (fault !== undefined) throw refused(fault);
  return { answer: "allow", scope, pattern: pattern as readonly ArgumentCondition[], ...signed };
}

/** The owner of the passkey: its signature says more about who answered than the token that carried it. */
function approverOf({ passkey }: ApprovalRequest, assertion: PasskeyAssertion | undefined): string | undefined {
  return passkey?.keys.find(({ credentialId }) => credentialId === assertion?.credentialId)?.approver;
}

function refused(why: string): HttpRefusal {
  return new HttpRefusal("INVALID_REQUEST", `The body is not as expected: ${why.replace(/\.$/, "")}.`);
}
