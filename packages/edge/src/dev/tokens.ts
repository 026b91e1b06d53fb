import { createHash } from "node:crypto";
import { type Identity, scopes } from "../app/auth.ts";

/** Tokens by themselves, to the setting `KEYHOLE_TOKENS`, which has their digests alone. */
export function tokensSetting(tokens: Readonly<Record<string, Partial<Identity>>>): string {
  const hashed = Object.entries(tokens).map(
    ([token, identity]) => [createHash("sha256").update(token).digest("hex"), identity] as const,
  );
  return JSON.stringify(Object.fromEntries(hashed));
}

/** One token that may do everything, for the owner of this machine. The key is for approval pages, which take no token that calls tools. */
export function localTokens(token: string, approvalKey: string | undefined): string {
  return tokensSetting({
    [token]: { subject: "local", scopes },
    ...(approvalKey !== undefined && { [approvalKey]: { subject: "local-approver", scopes: ["approvals:write"] } }),
  });
}
