import type { HostFunctions, HostValue } from "./vm.ts";

const encoder = new TextEncoder();

/** What the shell asks the platform for: things that are the same everywhere and slow to do in an interpreter. None of them remembers anything. */
export const services: HostFunctions = {
  encode: ([text]) => encoder.encode(textOf(text)),
  decode: ([bytes, label, flags]) => {
    const options = { fatal: textOf(flags).includes("f"), ignoreBOM: textOf(flags).includes("b") };
    return new TextDecoder(textOf(label), options).decode(bytes instanceof Uint8Array ? bytes : new Uint8Array());
  },
  parseUrl: ([url, base]) => {
    const given = base === undefined ? undefined : textOf(base);
    return URL.canParse(textOf(url), given) ? partsOf(new URL(textOf(url), given)) : undefined;
  },
  changeUrl: ([href, part, value]) => {
    const url = new URL(textOf(href));
    const name = textOf(part);
    if (isPart(name) && name !== "href" && name !== "origin") url[name] = textOf(value);
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
