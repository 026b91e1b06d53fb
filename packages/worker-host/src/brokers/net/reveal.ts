import { type BrokerSession, parseUrl } from "@keyhole/kernel";
import { refused } from "../fault.ts";
import { isRangeHeader } from "./headers.ts";
import type { Checked, NetRequest } from "./request.ts";

/**
 * The request as it goes out, with the values of secrets in query, headers and body, for this one
 * host. The broker keeps the request with its placeholders: after a redirect it reveals them anew,
 * for the new host.
 */
export async function revealed(request: NetRequest, { secrets }: BrokerSession): Promise<Checked<NetRequest>> {
  const host = request.url.hostname;
  if (request.url.protocol !== "https:" && !isThisMachine(host) && holdsPlaceholder(request))
    return refused(
      "CAPABILITY_DENIED",
      `A secret goes to ${host} over https. The request would send it in clear text.`,
      "Use an https URL.",
    );
  if (secrets.isSearching() && request.headers.some(([name]) => isRangeHeader(name)))
    return refused(
      "CAPABILITY_DENIED",
      `A tool cannot request a part of an answer of ${host}: the kernel searches whole answers for the secrets with a grant there.`,
      "Leave out the header Range.",
    );
  const search = await secrets.reveal(request.url.search, host, encodeURIComponent);
  if (!search.ok) return search;
  const headers: (readonly [string, string])[] = [];
  for (const [name, value] of request.headers) {
    const header = await secrets.reveal(value, host);
    if (!header.ok) return header;
    if (header.value !== value && !/^[\t\x20-\x7e\x80-\xff]*$/.test(header.value))
      return refused("INVALID_REQUEST", `The secret in the header ${name} has characters that HTTP does not carry.`);
    headers.push([name, header.value]);
  }
  const body = request.body && (await secrets.revealBytes(request.body, host, encodingOf(request.headers)));
  if (body?.ok === false) return body;
  const url = parseUrl(request.url.href)!;
  url.search = search.value;
  return { ok: true, value: { ...request, url, headers, ...(body && { body: body.value }) } };
}

/** How a value stands in a body of this type without breaking it. */
function encodingOf(headers: NetRequest["headers"]): ((value: string) => string) | undefined {
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  if (/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) return (value) => JSON.stringify(value).slice(1, -1);
  return /^application\/x-www-form-urlencoded\b/i.test(type) ? encodeURIComponent : undefined;
}

function holdsPlaceholder({ url, headers, body }: NetRequest): boolean {
  return [url.search, ...headers.map(([, value]) => value), new TextDecoder().decode(body)].some((text) =>
    text.includes("keyhole-secret."),
  );
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
