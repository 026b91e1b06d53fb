import { isJsonObject, type JsonValue } from "@keyhole/kernel";
import { readJsonSetting } from "./json-setting.ts";
import { isName, isTenant, nameRules } from "./names.ts";
import { HttpRefusal, Misconfigured } from "./problem.ts";

export const scopes = [
  "tools:read",
  "tools:call",
  "audit:read",
  "content:read",
  "approvals:write",
  "policy:read",
  "mode:write",
] as const;
/** The scopes of a token. No scope includes another. */
export type Scope = (typeof scopes)[number];

/** The sender of a request with a known token. */
export interface Identity {
  /** The caller in policy and audit log, and the approver of what it approves. */
  readonly subject: string;
  readonly scopes: readonly Scope[];
  /** The tenant of the kernel: registry, rate windows, approvals and log are one per tenant. */
  readonly tenant: string;
}

const areScopes = (value: unknown): value is readonly Scope[] =>
  Array.isArray(value) && value.every((each) => scopes.some((scope) => scope === each));

/** `undefined` for what names no sender. */
export function identityOf(value: unknown): Identity | undefined {
  const { subject, scopes: own, tenant = "default", ...others } = { ...(value as Record<keyof Identity, unknown>) };
  if (!isName(subject) || !isTenant(tenant) || !areScopes(own) || Object.keys(others).length > 0) return undefined;
  return { subject, scopes: own, tenant };
}

/**
 * Reads the tokens that the service accepts: a JSON object from the SHA-256 of each token, in hexadecimal, to `{ subject, scopes, tenant? }`.
 * The service never holds a token itself. Without a configuration the service refuses every caller.
 *
 * @throws {HttpRefusal} `MISCONFIGURED`
 */
export function readTokens(json = ""): ReadonlyMap<string, Identity> {
  const table = json === "" ? {} : (readJsonSetting("KEYHOLE_TOKENS", json) as JsonValue);
  const tokens = new Map<string, Identity>();
  for (const [digest, value] of isJsonObject(table) ? Object.entries(table) : [["", table] as const]) {
    const identity = /^[0-9a-f]{64}$/.test(digest) ? identityOf(value) : undefined;
    // No part of the value goes into the answer: the caller is still unknown.
    if (!identity)
      throw new Misconfigured(
        `KEYHOLE_TOKENS is not an object that maps SHA-256 digests to { subject, scopes, tenant? }. ${nameRules}`,
      );
    tokens.set(digest, identity);
  }
  return tokens;
}

/** RFC 6750, 2.1: `b64token`, here with an upper bound. */
const bearer = /^Bearer +([A-Za-z0-9._~+/-]{1,512}=*)$/i;

/**
 * The sender of a request, from its `Authorization` header. The token is looked up as a digest: the time says nothing of how much of a guess is right.
 *
 * @throws {HttpRefusal} with the `WWW-Authenticate` of RFC 6750, 3
 */
export async function authenticate(
  authorization: string | null,
  tokens: ReadonlyMap<string, Identity>,
): Promise<Identity> {
  if (authorization === null || !/^Bearer\b/i.test(authorization)) {
    throw new HttpRefusal("UNAUTHENTICATED", "Send the header `Authorization: Bearer TOKEN`.", challenge());
  }
  const token = bearer.exec(authorization)?.[1];
  if (token === undefined) {
    throw new HttpRefusal(
      "INVALID_REQUEST",
      "The Authorization header has no well-formed token.",
      challenge("invalid_request"),
    );
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  const found = tokens.get(Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  if (found === undefined)
    throw new HttpRefusal("UNAUTHENTICATED", "The service does not know the token.", challenge("invalid_token"));
  return found;
}

/**
 * A client can say for whom it asks, and is not believed.
 *
 * @throws {HttpRefusal} for another caller than the subject of the token
 */
export function assertSubject({ subject }: Identity, caller: string | undefined): void {
  if (caller === undefined || caller === subject) return;
  const [asked, own] = [caller, subject].map((each) => JSON.stringify(each));
  throw new HttpRefusal("FORBIDDEN", `The request names the caller ${asked}, and the token is of ${own}.`);
}

/** @throws {HttpRefusal} */
export function requireScope(identity: Identity, scope: Scope): void {
  if (identity.scopes.includes(scope)) return;
  throw new HttpRefusal("FORBIDDEN", `The token lacks the scope ${scope}.`, challenge("insufficient_scope", scope));
}

function challenge(
  error?: "invalid_request" | "invalid_token" | "insufficient_scope",
  scope?: Scope,
): Record<string, string> {
  const parts = [`realm="keyhole"`, error && `error="${error}"`, scope && `scope="${scope}"`].filter(Boolean);
  return { "www-authenticate": `Bearer ${parts.join(", ")}` };
}
