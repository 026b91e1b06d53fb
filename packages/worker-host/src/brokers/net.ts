import {
  type Broker,
  type BrokerSession,
  type BrokerReply,
  kindOfMethod,
  parseUrl,
  type Revealed,
} from "@keyhole/kernel";
import { netRead, netWrite } from "@keyhole/kernel/families";
import { apartFromPage, knownOptions } from "@keyhole/kernel/foreign";
import { cancelled, refused } from "./fault.ts";
import { readBody } from "./net/body.ts";
import { codingHeaders, codingRefusal } from "./net/coding.ts";
import { followRedirect, redirectLimit, redirectTarget } from "./net/redirect.ts";
import { refusalOfReport } from "./net/reported.ts";
import { needOf, type NetRequest, readRequest } from "./net/request.ts";
import { revealed } from "./net/reveal.ts";
import { watchPolicy } from "./page-policy.ts";

export { checkHost } from "./net/public-host.ts";

export interface NetBrokerOptions {
  /** Default: the platform's. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * Serves `net.read` and `net.write` with `fetch`. A URL is parsed once; what was checked is what is asked for; each redirect is a new request
 * with a new check. DNS rebinding cannot be closed above `fetch`: a granted name that resolves to a private address is asked there.
 *
 * The answer to `fetch` is `{ url, status, statusText, redirected, headers: [name, value][] }` with the decompressed body.
 */
export function netBroker(options: NetBrokerOptions = {}): Broker {
  const send = knownOptions(options, { fetch: true }, "netBroker").fetch ?? ((url, init) => fetch(url, init));
  return {
    families: [netRead, netWrite],
    needs(request) {
      const read = readRequest(request);
      if (!read.ok) return read;
      return { ok: true, needs: [needOf(kindOfMethod(read.value.method), read.value)] };
    },
    async serve(request, session) {
      const read = readRequest(request);
      return read.ok ? fetchFollowing(read.value, session, send) : read;
    },
  };
}

type Send = NonNullable<NetBrokerOptions["fetch"]>;

async function fetchFollowing(first: NetRequest, session: BrokerSession, send: Send): Promise<BrokerReply> {
  let request = first;
  const policy = watchPolicy((blocked) => parseUrl(blocked)?.origin === request.url.origin);
  try {
    for (let hop = 0; hop <= redirectLimit; hop++) {
      const outgoing = await revealed(request, session);
      if (!outgoing.ok) return outgoing;
      const error = session.spend({ networkRequests: 1, networkBytes: bytesOf(outgoing.value) });
      if (error) return { ok: false, error };
      if (session.signal.aborted) return cancelled;
      const { url } = request;
      const reported =
        outgoing.value.url.search === url.search
          ? undefined
          : await refusalOfReport(url, (address, method) =>
              send(address, initOf({ url, method, headers: [] }, session)),
            );
      if (session.signal.aborted) return cancelled;
      if (reported) return reported;
      const response = await send(outgoing.value.url.href, initOf(outgoing.value, session));
      if (session.signal.aborted) return cancelled;
      if ((response.type as string) === "opaqueredirect") return hiddenRedirect(request.url);
      const location = redirectTarget(response);
      if (location === null) return await replyOf(response, request, hop, session);
      response.body?.cancel().catch(() => {});
      // A server can put the received bytes into the address of its redirect.
      const target = await session.secrets.redact(location);
      if (!target.ok) return target;
      const next = followRedirect(request, response.status, target.value);
      if (!next.ok)
        return refused(
          next.error.code,
          `A redirect of ${request.url.host} was not followed: ${next.error.message}`,
          next.error.hint,
        );
      // A redirect can turn a request into a read.
      const refusal = session.refusal(needOf(kindOfMethod(next.value.method), next.value));
      if (refusal) {
        const message = `A redirect of ${request.url.host} was not followed: ${refusal.message}`;
        return { ok: false, error: { ...refusal, message } };
      }
      request = next.value;
    }
    return refused(
      "UNAVAILABLE",
      `${first.url.host} redirects more than ${redirectLimit} times.`,
      "Request the final address.",
    );
  } catch (error) {
    if (session.signal.aborted) return cancelled;
    const lacks = await policy.lacks();
    return lacks === undefined ? await unreachable(request.url, error, session) : forbidden(request.url, lacks);
  } finally {
    policy.leave();
  }
}

/** As sent, without the separators of HTTP. A tool can put as much into an address or a header as into a body. */
function bytesOf({ method, url, headers, body }: NetRequest): number {
  return method.length + url.href.length + headerBytes(headers) + (body?.byteLength ?? 0);
}

function headerBytes(headers: Iterable<readonly [name: string, value: string]>): number {
  return Array.from(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

function initOf({ method, headers, body }: NetRequest, session: BrokerSession): RequestInit {
  const init: RequestInit = {
    ...apartFromPage,
    method,
    headers: [...headers, ...codingHeaders(session)].map(([name, value]) => [name, value]),
    redirect: "manual",
    signal: session.signal,
  };
  if (body) init.body = body as Uint8Array<ArrayBuffer>;
  return init;
}

async function replyOf(
  response: Response,
  { url, method }: NetRequest,
  hop: number,
  session: BrokerSession,
): Promise<BrokerReply> {
  const { status, statusText } = response;
  if (status < 200 || status > 599)
    return refused("UNAVAILABLE", `${url.host} answered with the status ${status}, which HTTP does not have.`);
  const headers = [...response.headers];
  const error = session.spend({ networkBytes: headerBytes(headers) });
  if (error) {
    response.body?.cancel().catch(() => {});
    return { ok: false, error };
  }
  const value = { url: url.href, status, statusText, redirected: hop > 0, headers };
  if (response.body === null || method === "HEAD") return { ok: true, value };
  const unread = codingRefusal(response, url.host, session);
  if (unread) {
    response.body.cancel().catch(() => {});
    return unread;
  }
  const body = await readBody(response.body, session);
  return body.ok ? { ok: true, value, body: body.bytes } : body;
}

function hiddenRedirect(url: URL): BrokerReply {
  return refused(
    "UNAVAILABLE",
    `${url.host} answers with a redirect, and a browser does not say where to, so the broker cannot check its target.`,
    "Request the final address.",
    "Run the kernel outside the browser, where the broker can follow redirects.",
  );
}

function forbidden(url: URL, lacks: string): BrokerReply {
  return refused(
    "UNAVAILABLE",
    `The Content-Security-Policy of this page does not let it ask ${url.host}.`,
    "Request another host.",
    `Add ${lacks} to it; in a worker, to the policy of the worker's file.`,
  );
}

async function unreachable(url: URL, error: unknown, session: BrokerSession): Promise<BrokerReply> {
  const { location } = globalThis as { readonly location?: { readonly origin: string } };
  if (location === undefined || location.origin === url.origin) {
    const cause = await causeOf(error, session);
    if (!cause.ok) return cause;
    return refused(
      "UNAVAILABLE",
      `${url.host} cannot be reached: ${cause.value}.`,
      "Check the address, and try again later.",
    );
  }
  return refused(
    "UNAVAILABLE",
    `The browser gives no answer of ${url.host}: it cannot be reached, or it does not let pages of ${location.origin} read it (CORS).`,
    "Request a host that allows other origins.",
    "Run the kernel outside the browser, where CORS does not apply.",
  );
}

/**
 * Node has the reason in `cause`; its code is enough, and names no address of the host's network. A
 * text is redacted before it is cut, because a part of a value is not recognized.
 */
async function causeOf(error: unknown, { secrets }: BrokerSession): Promise<Revealed<string>> {
  const cause = error instanceof Error ? error.cause : undefined;
  if (typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string")
    return { ok: true, value: cause.code };
  const message = await secrets.redact(error instanceof Error ? error.message : "unknown reason");
  return message.ok ? { ok: true, value: message.value.slice(0, 200) } : message;
}
