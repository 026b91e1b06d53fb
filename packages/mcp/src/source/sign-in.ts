import { parseUrl } from "@keyhole/kernel";
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  isStrictScopeSuperset,
} from "@modelcontextprotocol/client";
import { boundedFetch } from "./bounded-fetch.ts";
import type { McpSignInOptions } from "./sign-in-options.ts";
import { assertListed, SignInProvider } from "./sign-in-provider.ts";

/** Metadata, a registration or a token. */
const MOST_BYTES = 1_048_576;
const TIMEOUT_MS = 10_000;

/** A `fetch` that signs in where the server asks for it, and sends the token to that server alone. One request leads to one sign-in at most. */
export class SignIn {
  readonly #server: URL;
  readonly #fetch: FetchLike;
  readonly #provider: SignInProvider;
  readonly #ask: FetchLike;
  #turn: Promise<unknown> = Promise.resolve();
  /** The server refused a new token. Another visit would ask the person again and again. */
  #isRefused = false;

  constructor(server: URL, options: McpSignInOptions, send: FetchLike) {
    this.#server = server;
    this.#provider = new SignInProvider(server, options);
    this.#fetch = this.over(send);
    this.#ask = askingFetch(server, options, send);
  }

  /** @param send gets each request to the server, also one that is sent again with a new token */
  over(send: FetchLike): FetchLike {
    return async (input, init) => {
      const before = await this.#provider.accessToken();
      const first = await send(input, this.#withToken(input, init, before));
      if (first.status !== 401 && !isStepUp(first)) return first;
      await first.body?.cancel();
      await this.#inTurn(() => this.#signIn(first, before));
      const second = await send(input, this.#withToken(input, init, await this.#provider.accessToken()));
      if (second.status !== 401 && !isStepUp(second)) return second;
      await second.body?.cancel();
      this.#isRefused = true;
      throw new Error(`The server refused the new token (${second.status}). It may be for another audience.`);
    };
  }

  /** Before a connection: a person may take longer than the server has to answer. */
  async prepare(): Promise<void> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: "sign-in", method: "ping" });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const response = await this.#fetch(this.#server, { method: "POST", redirect: "error", headers, body });
    await response.body?.cancel();
  }

  #withToken(input: string | URL, init: RequestInit | undefined, token: string | undefined): RequestInit {
    if (parseUrl(String(input))?.origin !== this.#server.origin) throw new Error("A token is for its server alone.");
    const headers = new Headers(init?.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    return { ...init, headers };
  }

  /** Requests at the same time wait for one sign-in. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {}); // The request has it.
    return turn;
  }

  async #signIn(refused: Response, before: string | undefined): Promise<void> {
    if ((await this.#provider.accessToken()) !== before) return; // Another request has signed in.
    if (this.#isRefused)
      throw new Error("The server refused a new token before. The source asks for no further sign-in.");
    const { resourceMetadataUrl, scope: asked } = extractWWWAuthenticateParams(refused);
    const granted = await this.#provider.grantedScope();
    const scope = refused.status === 403 ? computeScopeUnion(granted, asked) : asked;
    const options = {
      serverUrl: this.#server,
      fetchFn: this.#ask,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    };
    this.#provider.begin();
    const forceReauthorization = isStrictScopeSuperset(scope, granted);
    if ((await auth(this.#provider, { ...options, forceReauthorization })) === "AUTHORIZED") return;
    await auth(this.#provider, { ...options, ...this.#provider.answer() });
  }
}

function isStepUp(response: Response): boolean {
  return response.status === 403 && extractWWWAuthenticateParams(response).error === "insufficient_scope";
}

/** Sends to the listed issuers alone, and reads metadata from the server, too. A redirect could lead elsewhere. */
function askingFetch(server: URL, options: McpSignInOptions, send: FetchLike): FetchLike {
  const bounded = boundedFetch(send, {
    messageBytes: MOST_BYTES,
    onFault: () => {},
    onStray: () => {},
    charge: () => true,
  });
  return (input, init) => {
    const isRead = (init?.method ?? "GET") === "GET";
    if (!(isRead && parseUrl(String(input))?.origin === server.origin)) assertListed(String(input), options);
    return bounded(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  };
}
