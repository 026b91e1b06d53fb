import type { ApprovalRequest } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { answerBody, answerOf } from "../../packages/edge/src/app/approvals.ts";

const passkey = { credentialId: "a", authenticatorData: "b", clientDataJSON: "c", signature: "d" };
const request = (keys?: readonly { approver: string; credentialId: string }[]) =>
  ({ input: {}, ...(keys && { passkey: { rpId: "example.com", keys } }) }) as unknown as ApprovalRequest;
const allow = { answer: "allow" } as const;
const demanding = request([{ approver: "ada", credentialId: "a" }]);

it("an answer to a question that needs a passkey is its owner's, whatever token carries it", () => {
  expect(answerOf({ ...allow, passkey }, demanding, "token")).toEqual({
    ...allow,
    scope: "once",
    approver: "ada",
    passkey,
  });
});

it("an answer without the passkey leaves the question open", () => {
  expect(() => answerOf(allow, demanding, "token")).toThrow("demands a passkey");
});

it("an answer with a passkey of nobody stays the token's, and the kernel denies it", () => {
  const of = { ...passkey, credentialId: "x" };
  expect(answerOf({ ...allow, passkey: of }, demanding, "token")).toMatchObject({ approver: "token" });
  expect(answerOf(allow, request(), "token")).toEqual({ ...allow, scope: "once", approver: "token" });
});

it.each([
  ["a text", "x"],
  ["a member too few", { ...passkey, signature: undefined }],
  ["a member too many", { ...passkey, more: "" }],
  ["a member of another type", { ...passkey, signature: 1 }],
])("a passkey that is %s is no answer", (_, given) => {
  const body: unknown = JSON.parse(JSON.stringify({ ...allow, passkey: given }));
  expect(() => answerBody("body", body)).toThrow("passkey");
});
