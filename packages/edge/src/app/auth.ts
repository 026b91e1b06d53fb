import * as v from "valibot";
import { readJsonSetting } from "./json-setting.ts";
import { nameRules, nameSchema, tenantSchema } from "./names.ts";
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

export const identitySchema: v.GenericSchema<unknown, Identity> = v.strictObject({
  subject: nameSchema,
  scopes: v.array(v.picklist(scopes)),
  tenant: v.optional(tenantSchema, "default"),
});

const tokensSchema = v.pipe(
  v.custom<object>((value) => !Array.isArray(value)),
  v.record(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)), identitySchema),
);

/** Digest of a token (SHA-256, 32 bytes) to who it stands for. */
type TokenTable = readonly { readonly digest: Uint8Array; readonly identity: Identity }[];

/**
 * Reads the tokens that the service accepts: a JSON object from the SHA-256 of each token, in hexadecimal, to `{ subject, scopes, tenant? }`.
 * The service never holds a token itself. Without a configuration the service refuses every caller.
 *
 * @throws {HttpRefusal} `MISCONFIGURED`
 */
export function readTokens(json: string | undefined): TokenTable {
  if (json === undefined || json === "") return [];
  const parsed = v.safeParse(tokensSchema, readJsonSetting("KEYHOLE_TOKENS", json));
  // No part of the value goes into the answer: the caller is still unknown.
  if (!parsed.success)
    throw new Misconfigured(
      `KEYHOLE_TOKENS is not an object that maps SHA-256 digests to { subject, scopes, tenant? }. ${nameRules}`,
    );
  return Object.entries(parsed.output).map(([hex, identity]) => ({ digest: bytesOf(hex), identity }));
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16));
}

/** RFC 6750, 2.1: `b64token`, here with an upper bound. */
const bearer = /^Bearer +([A-Za-z0-9._~+/-]{1,512}=*)$/i;

/**
 * The sender of a request, from its `Authorization` header. The token is compared as a digest, in time that does not depend on the table.
 *
 * @throws {HttpRefusal} with the `WWW-Authenticate` of RFC 6750, 3
 */
export async function authenticate(authorization: string | null, table: TokenTable): Promise<Identity> {
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
  let found: Identity | undefined;
  for (const entry of table) if (equal(entry.digest, digest)) found = entry.identity;
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

function equal(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ right[i]!;
  return difference === 0;
}
