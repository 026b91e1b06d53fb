import { blake3 } from "@keyhole/kernel";
import type { McpCaller } from "./caller.ts";
import { refusal } from "./refusal.ts";

/** The sender of a request; a `Response` refuses it. */
export type Authenticate = (request: Request) => McpCaller | Response | Promise<McpCaller | Response>;

/** Lets everybody in who reaches the server, as one caller. For a server that only its own machine reaches. */
export function anyone(caller: McpCaller): Authenticate {
  return () => caller;
}

const SHORTEST_TOKEN = 16;

/**
 * Lets in who has a token (RFC 6750), as the caller that the token is for.
 *
 * @param tokens pairs of a token and its caller. A token has at least 16 characters.
 * @throws TypeError for a token that is too short
 */
export function bearerTokens(tokens: Iterable<readonly [token: string, caller: McpCaller]>): Authenticate {
  // By digest: a lookup by the token itself would tell by its time how much of a guess is right.
  const callers = new Map<string, McpCaller>();
  for (const [token, caller] of tokens) {
    if (token.length < SHORTEST_TOKEN)
      throw new TypeError(`A token has at least ${SHORTEST_TOKEN} characters; got ${token.length}.`);
    callers.set(digestOf(token), caller);
  }
  return ({ headers }) => {
    const [, token] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return unauthorized("The request needs a bearer token.", "Bearer");
    return callers.get(digestOf(token)) ?? unauthorized("The token is unknown.", 'Bearer error="invalid_token"');
  };
}

function digestOf(token: string): string {
  return blake3(new TextEncoder().encode(token)).join();
}

function unauthorized(message: string, challenge: string): Response {
  const response = refusal(401, -32_001, message);
  response.headers.set("www-authenticate", challenge);
  return response;
}
