/**
 * The name of a header as servers read it. `X_Original_URL` equals `x-original-url` for servers
 * behind CGI, WSGI, PHP or Rack: each run of other characters than letters and digits becomes one
 * sign.
 */
export function headerNameOf(header: string): string {
  return header.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

/**
 * Headers that frame the message, that belong to the connection or the browser (Fetch, "forbidden
 * request-header"), or that name another target.
 */
const forbidden = new Set(
  [
    "accept-charset accept-encoding connection content-length cookie2 date dnt expect host keep-alive",
    "http2-settings max-forwards origin referer set-cookie te trailer transfer-encoding upgrade via",
    // Another place: of WebDAV, of servers that take a URL from a header, of phones.
    "destination base-url http-host http-url request-uri uri url redirect profile x-wap-profile translate",
    // Parts of an address that a server may believe.
    "x-url x-uri x-path x-host x-hostname x-port x-scheme x-url-scheme x-proto x-protocol x-ip x-true-ip",
    "x-request-uri x-request-url x-script-name path-info x-path-info script-name path-translated x-script-url script-url",
    "x-http-host x-server-name x-backend-host x-matched-path x-custom-ip-authorization front-end-https",
    // Another caller.
    "sudo x-credential-identifier",
  ].flatMap((names) => names.split(" ")),
);

/** Whole families, because each server has another member of them. */
const forbiddenFamilies: readonly RegExp[] = [
  // Headers of browsers and proxies about a request.
  /^(?:access-control-request|proxy|sec|wl-proxy|cdn|x-proxy|x-cdn)(?:-|$)/,
  // Who asks, and what for, as a proxy before the server would say.
  /^(?:x-)?(?:forw|original|originating|rewrite|real-|remote-|client-|cluster-|source-|true-client)/,
  /-(?:client|real|source|remote|peer|connecting|user)-(?:ip|addr|address|host)$/,
  /^(?:x-)?(?:impersonate|webauth|authenticated|auth-request|(?:anonymous-)?consumer|authentik|pomerium|vouch|teleport|tailscale|ms-token)(?:-|$)/,
  /-userinfo$/,
  // Another method, host or path in place of the request's own.
  /(?:^|-)override(?:-|$)/,
  /(?:^|-)(?:original|unencoded|decoded|raw|effective)-(?:url|uri|path|host)$/,
  /^x-(?:http|override)(?:-|$)/,
  /method(?:override)?$/,
  // Headers that a server takes only from the software before it.
  /^(?:x-)?(?:envoy|amzn|middleware|nextjs|next|invoke|now|vercel|accel|sendfile|lighttpd|arr|azure|appengine|litespeed)(?:-|$)/,
  /^(?:x-)?(?:cf|cloudfront|fastly|akamai|incap|ali-cdn|ssl-client|tls-client|goog-iap|goog-authenticated|ms-client-principal)(?:-|$)/,
  // A store would read from another place than the path says.
  /-(?:copy|move|rename)-source(?:-|$)/,
];

/**
 * The fault of a header's name in a capability, as the end of a sentence. No header may change the
 * host, path or method of a capability.
 */
export function checkHeader(header: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9!#$%&'+.^_`|~-]{0,127}$/.test(header))
    return "a header's name is in lower case, without wildcards";
  const name = headerNameOf(header);
  return forbidden.has(name) || forbiddenFamilies.some((family) => family.test(name))
    ? "no tool sets this header"
    : undefined;
}
