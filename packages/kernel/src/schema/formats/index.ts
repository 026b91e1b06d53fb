import { attempt } from "../attempt.ts";
import type { Format } from "../types.ts";
import { date, dateTime, duration, time } from "./dates.ts";
import { email, hostname, idnEmail, idnHostname, ipv4, ipv6 } from "./hosts.ts";
import { iri, iriReference, uri, uriReference, uriTemplate } from "./uris.ts";

const matches =
  (pattern: RegExp): Format =>
  (text) =>
    pattern.test(text);

const regex = (text: string): boolean => attempt(() => new RegExp(text, "u")) !== undefined;

const FORMATS: ReadonlyMap<unknown, Format> = new Map<string, Format>([
  ["date", date],
  ["date-time", dateTime],
  ["duration", duration],
  ["email", email],
  ["hostname", hostname],
  ["idn-email", idnEmail],
  ["idn-hostname", idnHostname],
  ["ipv4", ipv4],
  ["ipv6", ipv6],
  ["iri", iri],
  ["iri-reference", iriReference],
  ["json-pointer", matches(/^(?:\/(?:[^~/]|~[01])*)*$/u)], // RFC 6901
  ["regex", regex], // ECMA-262 with Unicode semantics
  ["relative-json-pointer", matches(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/u)],
  ["time", time],
  ["uri", uri],
  ["uri-reference", uriReference],
  ["uri-template", uriTemplate],
  ["uuid", matches(/^[\da-fA-F]{8}-(?:[\da-fA-F]{4}-){3}[\da-fA-F]{12}$/)], // RFC 4122
]);

/** Undefined for an unknown format, which only annotates. */
export function formatOf(name: unknown): Format | undefined {
  return FORMATS.get(name);
}
