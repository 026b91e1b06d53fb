import { isBoundedHost, parseUrl } from "@keyhole/kernel";
import type { HostValue } from "./values.ts";
import type { HostFunctions } from "./vm.ts";

const encoder = new TextEncoder();

/** What the shell asks the platform for: things that are the same everywhere and slow to do in an interpreter. None of them remembers anything. */
export const services: HostFunctions = {
  encode: ([text]) => encoder.encode(textOf(text)),
  decode: ([bytes, label, flags]) => {
    const options = { fatal: textOf(flags).includes("f"), ignoreBOM: textOf(flags).includes("b") };
    return new TextDecoder(textOf(label), options).decode(bytes instanceof Uint8Array ? bytes : new Uint8Array());
  },
  parseUrl: ([url, base]) => {
    const parsed = parseUrl(textOf(url), base === undefined ? undefined : textOf(base));
    return parsed && partsOf(parsed);
  },
  changeUrl: ([href, part, value]) => {
    const url = parseUrl(textOf(href));
    if (url === undefined) throw new TypeError("Invalid URL");
    const name = textOf(part);
    const given = textOf(value);
    // A setter leaves the URL as it is where it can make nothing of what it is given.
    const isTaken =
      (name !== "host" && name !== "hostname") ||
      isBoundedHost(given.split(/[/\\?#]/, 1)[0]!.replace(/:[0-9]{0,20}$/, ""));
    if (isPart(name) && name !== "href" && name !== "origin" && isTaken) url[name] = given;
    return partsOf(url);
  },
  random: ([count]) => crypto.getRandomValues(new Uint8Array(Math.min(Number(textOf(count)) || 0, 65_536))),
};

const parts = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;

function isPart(name: string): name is (typeof parts)[number] {
  return (parts as readonly string[]).includes(name);
}

function partsOf(url: URL): string {
  return JSON.stringify(Object.fromEntries(parts.map((part) => [part, url[part]])));
}

function textOf(value: HostValue): string {
  return typeof value === "string" ? value : "";
}
