/** Checked by the compiler alone: what somebody else gave has no member that can be read, so it cannot be read a second time. */
import type { ApprovalAnswer, CallOptions } from "@keyhole/kernel";
import { bytesOf, type Foreign, itemsOf, membersOf } from "../../packages/kernel/src/support/foreign.ts";

declare function same<A>(): <B>(_value: B, ..._: Equal<A, B> extends true ? [] : [never]) => void;
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

declare const answer: Foreign<ApprovalAnswer>;
declare const pattern: Foreign<readonly { readonly at: string }[]>;
declare const body: Foreign<Uint8Array>;
declare const code: Foreign<"CANCELLED" | "UNAVAILABLE">;

// @ts-expect-error No member can be read.
void answer.answer;
// @ts-expect-error None that only some answers have.
void answer.pattern;
// @ts-expect-error Nor by its name as a text.
void answer["approver"];
// @ts-expect-error Nor where it may be missing.
void answer?.approver;
// @ts-expect-error Nor by taking it apart.
const { approver: _approver } = answer;
// @ts-expect-error No item of a list,
void pattern[0];
// @ts-expect-error nor its length,
void pattern.length;
// @ts-expect-error nor all in turn,
for (const _each of pattern);
// @ts-expect-error nor as arguments.
Math.max(...pattern);
// @ts-expect-error No byte,
void body[0];
// @ts-expect-error and not how many.
void body.byteLength;
// @ts-expect-error It is not what it says it is,
void answer satisfies ApprovalAnswer;
// @ts-expect-error not even a text.
void code satisfies string;

// One look at each member gives foreign members; a primitive that was found out is ours.
const { approver, scope } = membersOf(answer, "approver", "scope");
// @ts-expect-error Not yet found out.
void approver.length;
if (typeof approver === "string") same<string>()(approver);
// @ts-expect-error Only members that an answer can have.
membersOf(answer, "approved");
const items = itemsOf(pattern, 10) ?? [];
for (const item of items) {
  // @ts-expect-error The items are foreign as well.
  void item.at;
  same<Foreign<string>>()(membersOf(item, "at").at ?? "");
}
same<Uint8Array | undefined>()(bytesOf(body));
void scope;

declare const options: Foreign<CallOptions>;
// @ts-expect-error What a caller wishes,
void options.grants;
// @ts-expect-error and each wish.
void membersOf(options, "grants").grants.length;
