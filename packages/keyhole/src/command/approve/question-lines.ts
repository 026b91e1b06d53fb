import { type ApprovalRequest, type JsonValue, pointerOf } from "@keyhole/kernel";
import { counted } from "../io.ts";

/** Printable ASCII alone: a model's words could move the cursor, turn the text around, or look like others. */
export function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A question as a terminal shows it: the access of the call, and each argument on a line of its own. The count comes last, so that a reader notices lines that scrolled away. */
export function questionLines(request: ApprovalRequest): readonly string[] {
  const { tool, caller, reason, effects, grants, hasBody, passkey, input } = request;
  const leaves = leavesOf(input, "");
  const characters = leaves.reduce((sum, [, value]) => sum + value.length, 0);
  const lines = [
    `${tool} asks: ${reason}`,
    `  caller: ${caller}`,
    ...(effects.length === 0 ? [] : [`  effects: ${effects.join(", ")}`]),
    ...grants.map((grant) => `  grant: ${grant}`),
    ...leaves.map(([at, value]) => `  ${at}: ${value}`),
    ...(hasBody ? ["  Bytes come with the call. The command does not show them."] : []),
    ...(passkey ? [`  ${passkeyNote(passkey.keys)}`] : []),
    `  ${counted(leaves.length, "argument")}, ${counted(characters, "character")} as JSON`,
  ];
  return lines.map(plain);
}

/** Why a terminal cannot allow the call. */
export function passkeyNote(keys: readonly { readonly approver: string }[]): string {
  const owners = [...new Set(keys.map(({ approver }) => approver))].join(" or ");
  return `The policy demands a passkey of ${owners || "nobody"}. A terminal has none: allow the call on a page of the edge, or deny it here.`;
}

/** Each value at the end of a path, as JSON, under its JSON Pointer (RFC 6901). */
function leavesOf(value: JsonValue, at: string): readonly (readonly [at: string, value: string])[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0) return at === "" && JSON.stringify(value) === "{}" ? [] : [[at, JSON.stringify(value)]];
  return members.flatMap(([name, member]) => leavesOf(member, `${at}${pointerOf([name])}`));
}
