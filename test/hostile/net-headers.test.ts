import fc from "fast-check";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { expect, it } from "vitest";

const broker = netBroker();
const takes = async (name: string): Promise<boolean> => {
  const { ok } = await broker.needs({
    kind: "net.read",
    operation: "fetch",
    arguments: { url: "https://example.com/", headers: [[name, "a"]] },
  });
  return ok;
};

/** What proxies, frameworks and stores take another host, path, method or caller from. */
const misleading = [
  "x_http_method_override X-HTTP-Method-Override x-method-override x-http-method x-method _method http-method-override",
  "x_original_url X-Original-URL x-original-uri x-original-host x-rewrite-url x-rewrite-uri x-override-url x-http-path-override",
  "transfer_encoding Transfer-Encoding transfer.encoding content_length te trailer connection keep_alive proxy-connection",
  "client-ip x-client-ip true-client-ip x-real-ip x-remote-ip x-remote-addr x-originating-ip x-cluster-client-ip cf-connecting-ip",
  "x-host x-forwarded-host x_forwarded_for x-forwarded x-forward-for x-forwarder-for forwarded forwarded-for x-http-host-override",
  "x-host-override x-forwarded-server x-forwarded-prefix x-forwarded-proto x-forwarded-path fastly-client-ip x-azure-clientip",
  "x-envoy-original-path x-envoy-internal x-envoy-external-address x-middleware-subrequest x-middleware-rewrite x-nextjs-data",
  "x-invoke-path x-matched-path x-now-route-matches x-vercel-forwarded-for x-accel-redirect x-sendfile x-arr-ssl",
  "x-amzn-oidc-data x-amzn-trace-id x-amz-copy-source x-ms-copy-source x-goog-copy-source x-goog-iap-jwt-assertion",
  "x-ms-client-principal destination base-url request-uri x-custom-ip-authorization x-url x-scheme front-end-https x-wap-profile",
  "host via origin referer cookie2 upgrade expect date sec-fetch-site proxy-authorization wl-proxy-client-ip x-proxy-user",
].flatMap((names) => names.split(" "));

it.each(misleading)("the header %s is not for a tool to set", async (name) => expect(await takes(name)).toBe(false));

it("no other sign in the place of its dashes makes a forbidden header a tool's to set", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...misleading),
      fc.array(fc.constantFrom("-", "_", ".", "--", "-_", "~"), { minLength: 6, maxLength: 6 }),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      async (name, signs, upper) => {
        let at = 0;
        const spelt = [...name.replaceAll(/[-_.]/g, () => signs[at++ % signs.length]!)]
          .map((letter, place) => (upper[place] ? letter.toUpperCase() : letter))
          .join("");
        expect(await takes(spelt), spelt).toBe(false);
      },
    ),
    { numRuns: 500 },
  ));

it.each(
  [
    "accept accept-language authorization content-type cookie if-none-match if-modified-since range user-agent x-api-key idempotency-key",
    "x-requested-with x-github-api-version x-goog-api-key x-amz-date x-amz-target x-amz-content-sha256 x-amz-security-token x-ms-version",
    "x-ms-date notion-version anthropic-version openai-organization traceparent x-request-id x-correlation-id x-callback-url soapaction",
    "prefer depth private-token x-shopify-access-token stripe-account x-csrf-token api-key last-event-id cache-control",
  ].flatMap((names) => names.split(" ")),
)("the header %s is", async (name) => expect(await takes(name)).toBe(true));
