import {
  type HttpMethod,
  type HttpTemplate,
  type JsonObject,
  kindOfMethod,
  type NetCapability,
  type OutputContract,
  type SecretCapability,
} from "@keyhole/kernel";
import { ordinaryHeaders } from "../brokers/net/headers.ts";
import { type BodyTemplate, compileBody } from "./body.ts";
import { compileHeaders, type HeaderTemplate } from "./headers.ts";
import { type Checked, fault } from "./place.ts";
import { checkResponses, type Responses } from "./responses.ts";
import { compileUrl, type UrlTemplate } from "./url.ts";

/** A template with checked parts alone. */
export interface HttpRequestPlan {
  readonly method: HttpMethod;
  readonly url: UrlTemplate;
  readonly headers: readonly HeaderTemplate[];
  readonly body: BodyTemplate | undefined;
  readonly secrets: readonly string[];
  readonly responses: Responses;
}

export function compileTemplate(
  { method = "GET", url, headers = {}, body, responses = {} }: HttpTemplate,
  input: JsonObject,
  output: OutputContract,
): Checked<{ readonly plan: HttpRequestPlan }> {
  const ownUrl = compileUrl(url, input);
  if (!ownUrl.ok) return ownUrl;
  const ownHeaders = compileHeaders(headers, input);
  if (!ownHeaders.ok) return ownHeaders;
  if (body && (method === "GET" || method === "HEAD")) return fault("/http/body", `A ${method} request has no body.`);
  const ownBody = body && compileBody(body, input);
  if (ownBody?.ok === false) return ownBody;
  const checked = checkResponses(responses, output.kind);
  if (!checked.ok) return checked;
  const parts = [ownUrl.url, ...ownHeaders.headers, ...(ownBody ? [ownBody.body] : [])];
  const secrets = [...new Set(parts.flatMap((part) => part.secrets))];
  const plan = { method, url: ownUrl.url, headers: ownHeaders.headers, body: ownBody?.body, secrets, responses };
  return { ok: true, plan };
}

export type NeededCapability = NetCapability<"net.read"> | NetCapability<"net.write"> | SecretCapability;

/** The least that a tool has to be granted for its template. Another host, such as that of a redirect, is the author's to add. */
export function capabilitiesOf({ method, url, headers, secrets }: HttpRequestPlan): readonly NeededCapability[] {
  const { hosts, port, pathPrefix } = url;
  const named = headers.map(({ name }) => name).filter((name) => !ordinaryHeaders.has(name));
  const kind = kindOfMethod(method);
  return [
    {
      kind,
      hosts,
      ports: [port],
      methods: [method],
      ...(pathPrefix !== "/" && { paths: [pathPrefix] }),
      ...(named.length > 0 && { headers: named }),
    },
    ...(secrets.length > 0 ? [{ kind: "secret.use" as const, names: secrets, hosts }] : []),
  ];
}
