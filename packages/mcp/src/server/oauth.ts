import { type Capability, type Clock, parseUrl, systemClock } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";
import type { Authenticate } from "./authenticate.ts";
import type { McpCaller } from "./caller.ts";
import { refusal } from "./refusal.ts";

interface CommonOptions {
  /** Of the authorization server: the claim `iss`. */
  readonly issuer: string;
  /** The address of this server, such as `https://tools.example.com/mcp`: the claim `aud`, and `resource` of RFC 9728. */
  readonly resource: string;
  /** The issuer's key set: its address, or the set itself. */
  readonly keys: string | JSONWebKeySet;
  /** Scopes that every request needs. Default: none. */
  readonly requiredScopes?: readonly string[];
  readonly fetch?: FetchImplementation;
  readonly clock?: Clock;
}

type Scopes = Readonly<Record<string, readonly Capability[]>>;
type CallerOf<Caller> = (claims: JWTPayload) => Caller | undefined;

/**
 * One of two narrows what the policy grants: `scopes`, or the `grants` that `callerOf` gives. Neither may replace the other, so with both no token of such a caller is
 * served.
 */
export type OauthOptions = CommonOptions &
  (
    | {
        readonly scopes?: undefined;
        /** Default: `ISSUER#SUB`, so that no caller of another issuer or of another list has the name. `undefined` refuses the token. */
        readonly callerOf?: CallerOf<McpCaller>;
      }
    | {
        /** The grants of each scope. A token gets the grants of its scopes, as far as the policy grants them too. Default: what the policy grants. */
        readonly scopes: Scopes;
        readonly callerOf?: CallerOf<McpCaller & { readonly grants?: never }>;
      }
  );

/** Metadata of a server (RFC 9728). */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  readonly scopes_supported?: readonly string[];
}

export interface Oauth {
  readonly authenticate: Authenticate;
  /** Served without a token, so that a client finds the authorization server. */
  readonly resourceMetadata: ResourceMetadata;
}

/** Asymmetric ones: with a shared secret, the key set would be the secret. */
const algorithms = ["RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"];
const TOLERANCE_SECONDS = 30;
const MOST_TOKEN_LENGTH = 16_384;
const KEYS_TIMEOUT_MS = 5_000;

/**
 * Lets in who has an access token of an authorization server: a JWT (RFC 9068) that its keys verify, of this issuer, for this resource, and in its time.
 *
 * @throws TypeError for an issuer or a resource that is no URL, and for a key set without https
 * @example
 * const oauth = oauthTokens({ issuer: "https://login.example.com", resource: "https://tools.example.com/mcp", keys: "https://login.example.com/jwks" });
 * const handler = mcpHandler(kernel, { ...oauth, hosts: ["tools.example.com"] });
 */
export function oauthTokens(options: OauthOptions): Oauth {
  const {
    issuer,
    resource,
    scopes,
    requiredScopes = [],
  } = knownOptions<OauthOptions>(
    options,
    {
      issuer: true,
      resource: true,
      keys: true,
      requiredScopes: true,
      fetch: true,
      clock: true,
      scopes: true,
      callerOf: true,
    },
    "oauthTokens",
  );
  for (const url of [issuer, resource]) if (!parseUrl(url)) throw new TypeError(`${JSON.stringify(url)} is no URL.`);
  const known = [...new Set([...requiredScopes, ...Object.keys(scopes ?? {})])];
  const verifier = new TokenVerifier(options);
  return {
    authenticate: (request) => verifier.callerOf(request),
    resourceMetadata: {
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      ...(known.length > 0 && { scopes_supported: known }),
    },
  };
}

/** Where the metadata of a resource stands (RFC 9728, section 3.1). */
export function metadataPath(resource: string): string {
  const path = parseUrl(resource)?.pathname ?? "/";
  return `/.well-known/oauth-protected-resource${path === "/" ? "" : path}`;
}

function metadataUrl(resource: string): string {
  return `${parseUrl(resource)?.origin ?? ""}${metadataPath(resource)}`;
}

class TokenVerifier {
  readonly #options: OauthOptions;
  readonly #keys: JWTVerifyGetKey;

  constructor(options: OauthOptions) {
    this.#options = options;
    this.#keys = keysOf(options);
  }

  async callerOf({ headers }: Request): Promise<McpCaller | Response> {
    const [, token] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return this.#refuse(401, "The request needs a bearer token.");
    if (token.length > MOST_TOKEN_LENGTH) return this.#refuse(401, "The token is too long.", "invalid_token");
    try {
      return this.#callerWith(await this.#claimsOf(token));
    } catch (error) {
      // Without the keys, the token's own claims are no reason to ask for another token.
      if (error instanceof errors.JOSEError && !isOfKeySet(error))
        return this.#refuse(401, "The token is not valid.", "invalid_token");
      return refusal(503, -32_000, "The keys of the authorization server are unreadable.");
    }
  }

  async #claimsOf(token: string): Promise<JWTPayload> {
    const { issuer, resource, clock = systemClock } = this.#options;
    const { payload } = await jwtVerify(token, this.#keys, {
      issuer,
      audience: resource,
      algorithms,
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(clock.now()),
      requiredClaims: ["exp", "sub"],
    });
    return payload;
  }

  #callerWith(claims: JWTPayload): McpCaller | Response {
    const { issuer, requiredScopes = [], scopes, callerOf = subjectOf(issuer) } = this.#options;
    const given = scopesOf(claims);
    const missing = requiredScopes.filter((scope) => !given.has(scope));
    if (missing.length > 0)
      return this.#refuse(403, "The token lacks a scope.", "insufficient_scope", requiredScopes.join(" "));
    const caller = callerOf(claims);
    if (!caller) return this.#refuse(401, "The token names no caller of this server.", "invalid_token");
    if (!scopes) return caller;
    if (caller.grants) return refusal(500, -32_603, "The server narrows this caller twice: by scopes and by callerOf.");
    const granted = [...given].flatMap((scope) => (Object.hasOwn(scopes, scope) ? scopes[scope]! : []));
    return { ...caller, grants: granted };
  }

  #refuse(status: 401 | 403, message: string, error?: string, scope?: string): Response {
    const response = refusal(status, -32_001, message);
    const parts = [`resource_metadata="${metadataUrl(this.#options.resource)}"`];
    if (error !== undefined) parts.unshift(`error="${error}"`);
    if (scope !== undefined) parts.push(`scope="${scope}"`);
    response.headers.set("www-authenticate", `Bearer ${parts.join(", ")}`);
    return response;
  }
}

/** A key set that changes is read again when a token names a key that it lacks, at most twice a minute. */
function keysOf({ keys, fetch }: OauthOptions): JWTVerifyGetKey {
  if (typeof keys !== "string") return createLocalJWKSet(keys);
  const url = parseUrl(keys);
  if (url?.protocol !== "https:") throw new TypeError(`${JSON.stringify(keys)} is no https URL of a key set.`);
  return createRemoteJWKSet(url, { timeoutDuration: KEYS_TIMEOUT_MS, ...(fetch && { [customFetch]: fetch }) });
}

/** The set could not be read, in contrast to a set that lacks the token's key. */
function isOfKeySet(error: InstanceType<typeof errors.JOSEError>): boolean {
  return (
    error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || error.code === "ERR_JOSE_GENERIC"
  );
}

/** RFC 8693 has one text, other issuers a list. */
function scopesOf({ scope, scp }: JWTPayload): ReadonlySet<string> {
  if (typeof scope === "string") return new Set(scope.split(" "));
  return new Set(Array.isArray(scp) ? scp.filter((each) => typeof each === "string") : []);
}

/** An issuer has no fragment (RFC 8414, 2): a name says which issuer it is of. */
const subjectOf =
  (issuer: string): CallerOf<McpCaller & { readonly grants?: never }> =>
  ({ sub }) =>
    sub === undefined || sub === "" ? undefined : { caller: `${issuer}#${sub}` };
