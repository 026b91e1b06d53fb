import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

export const resource = "http://127.0.0.1/mcp";
export const issuer = "https://login.example.com";
export const redirectUrl = "http://localhost:4567/callback";

const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
export const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" }] };

interface Code {
  readonly challenge: string;
  readonly resource: string;
}

/** What an authorization server does wrong. */
export interface Misdeeds {
  /** The claim `aud` of each token. Default: the resource that the client asked for. */
  readonly audience?: string;
  /** Its metadata name another issuer. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Changes the text of its metadata. */
  readonly text?: (text: string) => string;
  /** Changes the address to which it sends the person back. */
  readonly leads?: (back: URL) => string;
  /** The token endpoint redirects. */
  readonly redirects?: string;
}

/** An authorization server of OAuth 2.1: registration, codes with PKCE and a resource, tokens as JWTs. */
export class Issuer {
  readonly #misdeeds: Misdeeds;
  readonly #codes = new Map<string, Code>();
  /** Bodies that its token endpoint got. */
  readonly asked: URLSearchParams[] = [];
  visits = 0;

  constructor(misdeeds: Misdeeds = {}) {
    this.#misdeeds = misdeeds;
  }

  /** A person who signs in at once. */
  readonly visit = async (address: string): Promise<string> => {
    this.visits++;
    const { searchParams } = new URL(address);
    const challenge = searchParams.get("code_challenge") ?? "";
    if (searchParams.get("code_challenge_method") !== "S256") throw new Error("It came without PKCE.");
    const code = `code-${this.visits}`;
    this.#codes.set(code, { challenge, resource: searchParams.get("resource") ?? "" });
    const back = new URL(searchParams.get("redirect_uri") ?? "");
    back.search = new URLSearchParams({ code, state: searchParams.get("state") ?? "", iss: issuer }).toString();
    return this.#misdeeds.leads?.(back) ?? back.href;
  };

  async fetch(url: URL, init: RequestInit = {}): Promise<Response> {
    switch (url.pathname) {
      case "/.well-known/oauth-authorization-server":
        return this.#metadata({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          authorization_response_iss_parameter_supported: true,
          ...this.#misdeeds.metadata,
        });
      case "/register":
        return Response.json({ ...JSON.parse(String(init.body)), client_id: "client" }, { status: 201 });
      case "/token":
        return this.#token(new URLSearchParams(String(init.body)), init);
      default:
        return new Response(null, { status: 404 });
    }
  }

  #metadata(all: object): Response {
    const text = JSON.stringify(all);
    return new Response(this.#misdeeds.text?.(text) ?? text, { headers: { "content-type": "application/json" } });
  }

  async #token(body: URLSearchParams, { redirect }: RequestInit): Promise<Response> {
    const { redirects, audience } = this.#misdeeds;
    if (redirects !== undefined && redirect === "error") throw new TypeError("The answer was a redirect.");
    this.asked.push(body);
    const code = this.#codes.get(body.get("code") ?? "");
    this.#codes.delete(body.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url");
    if (
      code?.challenge !== challenge ||
      code.resource !== body.get("resource") ||
      body.get("redirect_uri") !== redirectUrl
    )
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    const token = await new SignJWT({ sub: "ada" })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setIssuer(issuer)
      .setAudience(audience ?? code.resource)
      .setExpirationTime("10m")
      .sign(privateKey);
    return Response.json({ access_token: token, token_type: "Bearer", expires_in: 600 });
  }
}
