import { type BrokerError, type BrokerSession, type Need, readUrl } from "@keyhole/kernel";
import { ordinaryHeaders } from "../../brokers/net/headers.ts";
import { needOf } from "../../brokers/net/request.ts";

/** One request of a page, as the proxy sees it. */
export interface PageRequest {
  /** `WEBSOCKET` for the opening of a WebSocket. */
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface RefusedRequest {
  readonly method: string;
  readonly url: string;
  readonly reason: string;
}

export type Admission =
  | { readonly ok: true; readonly url: URL; readonly need: Need }
  | { readonly ok: false; readonly reason: string };

/** Requests that an answer lists. */
const listed = 50;
/** Documents whose state is remembered. */
const remembered = 1_000;

/** Names that a browser sets itself and no script can (Fetch, "forbidden request-header"), with the ordinary hints that Chromium adds. */
const ofBrowser =
  /^(?:sec-.*|proxy-.*|access-control-request-.*|accept-(?:charset|encoding)|connection|content-length|cookie2?|date|dnt|expect|host|keep-alive|origin|ping-(?:from|to)|priority|purpose|referer|save-data|service-worker.*|te|trailer|transfer-encoding|upgrade|upgrade-insecure-requests|via)$/;

/** A page can put as much into an address or a header as into a body. */
function headBytes({ method, url, headers }: PageRequest): number {
  const lines = Object.entries(headers).map(([name, value]) => [name, value ?? ""].flat().join("").length);
  return lines.reduce((sum, length) => sum + length, method.length + url.length);
}

/** The grant for each request of one page, and the page's use of it. */
export class PageRules {
  readonly #session: BrokerSession;
  readonly #onEnd: (error: BrokerError) => void;
  readonly #refused: RefusedRequest[] = [];
  /** How the last request for a document ended, by its address. */
  readonly #documents = new Map<string, number | BrokerError>();
  #refusals = 0;
  #navigations = 0;
  #isOver = false;

  constructor(session: BrokerSession, onEnd: (error: BrokerError) => void) {
    this.#session = session;
    this.#onEnd = onEnd;
  }

  /** The first ones; `refusals` counts all. */
  get refused(): readonly RefusedRequest[] {
    return this.#refused;
  }

  get refusals(): number {
    return this.#refusals;
  }

  get navigations(): number {
    return this.#navigations;
  }

  /** The status of a document, or why there is none. */
  documentAt(url: string): number | BrokerError | undefined {
    return this.#documents.get(withoutHash(url));
  }

  admit(request: PageRequest): Admission {
    if (this.#isOver) return { ok: false, reason: "The visit is over." };
    const isDocument = isNavigation(request);
    const url = readUrl(request.url);
    if (!url.ok) return this.#refuse(request, isDocument, url.error);
    if ("service-worker" in request.headers)
      return this.#refuse(request, isDocument, denied("Pages receive no service workers."));
    const names = Object.keys(request.headers).filter((name) => !ofBrowser.test(name) && !ordinaryHeaders.has(name));
    const place = needOf("browser.page", {
      url: url.value,
      method: request.method,
      headers: names.map((name) => [name, ""] as const),
    });
    const need = isDocument ? { ...place, navigation: ++this.#navigations } : place;
    const limit = this.#session.limit(place);
    if (this.#navigations > limit) {
      const message = `The page opened more than ${limit} documents.`;
      return this.#end({ code: "BOUNDS_EXCEEDED", message, hint: "Open a page that leads to fewer others." });
    }
    const refusal = this.#session.refusal(need);
    if (refusal) return this.#refuse(request, isDocument, refusal);
    const spent = this.#session.spend({ networkRequests: 1, networkBytes: headBytes(request) }, need);
    return spent ? this.#end(spent) : { ok: true, url: url.value, need };
  }

  /** Counts before the bytes move on. */
  spend(networkBytes: number, need: Need): boolean {
    if (this.#isOver) return false;
    const error = this.#session.spend({ networkBytes }, need);
    if (error) this.#end(error);
    return error === undefined;
  }

  /** Notes the outcome of an admitted request. */
  answered(request: PageRequest, outcome: number | BrokerError): void {
    if (isNavigation(request)) this.#note(request.url, outcome);
  }

  #note(url: string, outcome: number | BrokerError): void {
    if (this.#documents.size < remembered) this.#documents.set(withoutHash(url), outcome);
  }

  #refuse({ method, url }: PageRequest, isDocument: boolean, error: BrokerError): Admission {
    if (isDocument) this.#note(url, error);
    this.refuseLate({ method, url }, error.message);
    return { ok: false, reason: error.message };
  }

  /** A request that was admitted, and whose host turned out to have no address that may be dialed. */
  refuseLate({ method, url }: Pick<PageRequest, "method" | "url">, reason: string): void {
    this.#refusals++;
    // Without query: it can carry what the page knows.
    const shown = withoutHash(url).replace(/\?.*$/s, "").slice(0, 500).toWellFormed();
    if (this.#refused.length < listed) this.#refused.push({ method, url: shown, reason: reason.slice(0, 500) });
  }

  #end(error: BrokerError): Admission {
    this.#isOver = true;
    this.#onEnd(error);
    return { ok: false, reason: error.message };
  }
}

/**
 * Every request for a document has the first of these headers, and a page cannot remove it. A page
 * that adds one is only counted too often.
 */
function isNavigation({ headers }: PageRequest): boolean {
  return "upgrade-insecure-requests" in headers || headers["sec-fetch-mode"] === "navigate";
}

function withoutHash(url: string): string {
  return url.replace(/#.*$/s, "");
}

function denied(message: string): BrokerError {
  return { code: "CAPABILITY_DENIED", message, hint: "" };
}
