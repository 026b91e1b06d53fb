import { type Checked, type NetRequest, readUrl } from "./request.ts";

/** Half of what `fetch` follows on its own, and more than an honest server needs. */
export const redirectLimit = 10;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where a response sends the client. `null` when it sends it nowhere. */
export function redirectTarget(response: Response): string | null {
  return redirects.has(response.status) ? response.headers.get("location") : null;
}

/** What identifies the caller: meant for the origin that it was written for, and for no other. */
const credentialHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "x-api-key",
  "api-key",
  "x-auth-token",
  "x-csrf-token",
]);

/** Headers that describe a body, and go with it (Fetch, HTTP-redirect fetch). */
const bodyHeaders: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-language",
  "content-location",
  "content-type",
]);

/** The request that a redirect asks for (Fetch, HTTP-redirect fetch, 12 to 15). */
export function followRedirect(request: NetRequest, status: number, location: string): Checked<NetRequest> {
  const url = readUrl(location, request.url);
  if (!url.ok) return url;
  const becomesGet =
    (status === 303 && request.method !== "GET" && request.method !== "HEAD") ||
    ((status === 301 || status === 302) && request.method === "POST");
  const sameOrigin = url.value.origin === request.url.origin;
  const headers = request.headers.filter(
    ([name]) => !(becomesGet && bodyHeaders.has(name)) && (sameOrigin || !credentialHeaders.has(name)),
  );
  return {
    ok: true,
    value: {
      url: url.value,
      method: becomesGet ? "GET" : request.method,
      headers,
      ...(!becomesGet && request.body && { body: request.body }),
    },
  };
}
