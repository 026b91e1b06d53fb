import { readUrl } from "@keyhole/kernel";
import { isBodyHeader, staysOnRedirect } from "./headers.ts";
import type { Checked, NetRequest } from "./request.ts";

/** Half of what `fetch` follows on its own, and more than an honest server needs. */
export const redirectLimit = 10;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where a response sends the client. `null` when it sends it nowhere. */
export function redirectTarget(response: Response): string | null {
  return redirects.has(response.status) ? response.headers.get("location") : null;
}

/** The request that a redirect asks for (Fetch, HTTP-redirect fetch, 12 to 15). */
export function followRedirect(request: NetRequest, status: number, location: string): Checked<NetRequest> {
  const url = readUrl(location, request.url);
  if (!url.ok) return url;
  const becomesGet =
    (status === 303 && request.method !== "GET" && request.method !== "HEAD") ||
    ((status === 301 || status === 302) && request.method === "POST");
  const sameOrigin = url.value.origin === request.url.origin;
  const headers = request.headers.filter(
    ([name]) => !(becomesGet && isBodyHeader(name)) && (sameOrigin || staysOnRedirect(name)),
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
