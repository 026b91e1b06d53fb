import { encodeBase64Url, parseUrl } from "@keyhole/kernel";
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpSignInOptions, SignInRecord } from "./sign-in-options.ts";

type Credentials = "all" | "client" | "tokens" | "verifier" | "discovery";

const STATE_BYTES = 32;

/** The memory of one client's sign-ins at one server, in the form that the SDK asks for. */
export class SignInProvider implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientMetadataUrl?: string;
  readonly #server: string;
  readonly #options: McpSignInOptions;
  #loading: Promise<void> | undefined;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = "";
  #state = "";
  #discovery: OAuthDiscoveryState | undefined;
  #answer: { readonly authorizationCode: string; readonly iss?: string } | undefined;

  constructor(server: URL, options: McpSignInOptions) {
    const { redirectUrl, clientMetadataUrl, client, issuers, endpoints = [] } = options;
    if (!parseUrl(redirectUrl)) throw new TypeError(`${JSON.stringify(redirectUrl)} is no URL to come back to.`);
    if (issuers.length === 0) throw new TypeError("A sign-in needs the issuers that may do it.");
    for (const each of [server.href, ...issuers, ...endpoints])
      if (!isSealed(each)) throw new TypeError(`${JSON.stringify(each)} would get secrets in the clear. Use https.`);
    if (client && issuers.length > 1) throw new TypeError("A known client is the client of one issuer.");
    this.#server = server.href;
    this.#options = options;
    this.redirectUrl = redirectUrl;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    const method = client?.secret === undefined ? "none" : undefined;
    this.clientMetadata = {
      client_name: "keyhole",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(method && client && { token_endpoint_auth_method: method }),
    };
  }

  async accessToken(): Promise<string | undefined> {
    await this.#loaded();
    return this.#tokens?.access_token;
  }

  async grantedScope(): Promise<string | undefined> {
    await this.#loaded();
    return this.#tokens?.scope;
  }

  /** The server may name another issuer than last time. */
  begin(): void {
    this.#discovery = undefined;
    this.#answer = undefined;
  }

  /** @throws Error without an answer */
  answer(): { readonly authorizationCode: string; readonly iss?: string } {
    if (!this.#answer) throw new Error("The sign-in has no answer yet.");
    return this.#answer;
  }

  state(): string {
    this.#state = encodeBase64Url(crypto.getRandomValues(new Uint8Array(STATE_BYTES)));
    return this.#state;
  }

  /** The first that the SDK says of an issuer, before it registers a client there. */
  saveAuthorizationServerUrl(issuer: string): void {
    const { issuers } = this.#options;
    if (issuers.every((each) => inOneForm(each) !== inOneForm(issuer)))
      throw new Error(`The server names the issuer ${issuer.slice(0, 200)}, expected ${issuers.join(" or ")}.`);
  }

  async redirectToAuthorization(address: URL): Promise<void> {
    assertListed(address.href, this.#options);
    const text = await this.#options.visit(address.href);
    const [back, expected] = [parseUrl(text), parseUrl(this.redirectUrl)];
    if (!back || back.origin !== expected?.origin || back.pathname !== expected.pathname)
      throw new Error("The person came back to another address than the one of this client.");
    if (this.#state === "" || back.searchParams.get("state") !== this.#state)
      throw new Error("The person came back from another sign-in.");
    this.#state = ""; // Once.
    const error = back.searchParams.get("error");
    const authorizationCode = back.searchParams.get("code");
    if (error !== null || authorizationCode === null)
      throw new Error(`The issuer did not sign the client in: ${(error ?? "it gave no code").slice(0, 200)}.`);
    const iss = back.searchParams.get("iss");
    this.#answer = { authorizationCode, ...(iss !== null && { iss }) };
  }

  async clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    await this.#loaded();
    const { client } = this.#options;
    if (!client) return this.#client;
    const issuer = context && { issuer: context.issuer };
    return { client_id: client.id, ...(client.secret !== undefined && { client_secret: client.secret }), ...issuer };
  }

  saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    this.#client = client;
    return this.#save();
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    await this.#loaded();
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    this.#tokens = tokens;
    return this.#save();
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async invalidateCredentials(which: Credentials): Promise<void> {
    if (which === "all" || which === "client") this.#client = undefined;
    if (which === "all" || which === "tokens") this.#tokens = undefined;
    if (which === "all" || which === "verifier") this.#verifier = "";
    if (which === "all" || which === "discovery") this.#discovery = undefined;
    await this.#save();
  }

  #loaded(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<void> {
    const record = await this.#options.store?.load();
    if (record?.server !== this.#server) return; // Another server's secrets stay with it.
    this.#client = record.client as StoredOAuthClientInformation | undefined;
    this.#tokens = record.tokens as StoredOAuthTokens | undefined;
  }

  async #save(): Promise<void> {
    const record: SignInRecord = {
      server: this.#server,
      ...(this.#client && { client: this.#client }),
      ...(this.#tokens && { tokens: this.#tokens }),
    };
    await this.#options.store?.save(record);
  }
}

/**
 * A server names its issuer, and an issuer its endpoints: each could name a host of a private network.
 *
 * @throws Error for an address that nobody listed
 */
export function assertListed(address: string, { issuers, endpoints = [] }: McpSignInOptions): void {
  const { protocol, origin } = parseUrl(address) ?? {};
  const isListed = [...issuers, ...endpoints].some((each) => parseUrl(each)?.origin === origin);
  if (isListed && /^https?:$/.test(protocol ?? "")) return;
  const place = origin?.slice(0, 200) ?? "an address";
  throw new Error(
    `The sign-in leads to ${place}, which is none of the issuers. List it in \`endpoints\` if it is theirs.`,
  );
}

/** Reached over TLS, or on this machine (RFC 6749, 10.3; RFC 8252, 8.3). */
function isSealed(address: string): boolean {
  const { protocol, hostname = "" } = parseUrl(address) ?? {};
  return protocol === "https:" || (protocol === "http:" && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname));
}

/** The address of an issuer without a path has a slash in some places. Behind a path it names another one. */
function inOneForm(issuer: string): string {
  return issuer.replace(/^(https?:\/\/[^/]+)\/$/, "$1");
}
