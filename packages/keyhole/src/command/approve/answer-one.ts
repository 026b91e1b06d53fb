import type { ApprovalRequest } from "@keyhole/kernel";
import type { EdgeClient } from "@keyhole/worker-host/edge";
import { visible } from "@keyhole/kernel/visible";
import { type CommandOptions, type CommandResult, marks } from "../io.ts";
import { passkeyNote, plain } from "@keyhole/worker-host/node/terminal";

export type Given = { readonly answer: "allow" } | { readonly answer: "deny"; readonly reason?: string };

/** Answers one approval by its whole id: a part of an id could come to fit another call. */
export async function answerOne(
  edge: EdgeClient,
  id: string,
  given: Given,
  { json }: CommandOptions,
): Promise<CommandResult> {
  const request = (await edge.questions.list()).find(({ approvalId }) => approvalId === id);
  const refusal = await refusalOf(edge, id, given, request);
  const exitCode = refusal === undefined ? 0 : 1;
  if (json === true) {
    const { answer } = given;
    return { exitCode, output: jsonText({ approvalId: id, answer, arrived: !refusal, ...(refusal && { refusal }) }) };
  }
  if (refusal !== undefined) return { exitCode, output: "", errorOutput: `${marks.failed} ${plain(refusal)}\n` };
  const said = given.answer === "allow" ? "is allowed once" : "is denied";
  return { exitCode, output: `${marks.passed} ${plain(`${request?.tool ?? id} ${said}`)}\n` };
}

/** Why the answer does not arrive. */
async function refusalOf(
  edge: EdgeClient,
  id: string,
  given: Given,
  request: ApprovalRequest | undefined,
): Promise<string | undefined> {
  if (request?.passkey && given.answer === "allow") return passkeyNote(request.passkey.keys);
  if (request !== undefined && (await send(edge, id, given))) return undefined;
  return `No call waits under ${id}: an approver answered, the question expired, or the call ended.`;
}

/** `false` where no request of this id is open. The approver is the subject of the token. */
export function send(edge: EdgeClient, id: string, given: Given): Promise<boolean> {
  const { answer } = given;
  if (answer === "allow") return edge.questions.answer(id, { answer, scope: "once", approver: "" });
  return edge.questions.answer(id, { ...given, approver: "" });
}

/** The same JSON, with hidden characters as escapes. */
export function jsonText(value: object): string {
  return `${visible(JSON.stringify(value, undefined, 2))}\n`;
}
