import { plainHost } from "../../packages/kernel/src/capability/matching/hosts.ts";
import { checkHostPattern, parseUrl } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { services } from "../../packages/worker-host/src/wasm/interpreter/services.ts";

/** Distinct characters, with which IDNA takes longest. */
const distinct = String.fromCodePoint(...Array.from({ length: 5_000 }, (_, i) => 0x4e00 + i));
const deep = Array.from({ length: 200 }, () => "ab").join(".");

/** Notes each text that reaches the platform's parser. */
function spyOnUrl(): string[] {
  const seen: string[] = [];
  const Platform = URL;
  vi.stubGlobal(
    "URL",
    class extends Platform {
      constructor(text: string | URL, base?: string | URL) {
        seen.push(String(text));
        super(text, base);
      }
      static override canParse(text: string | URL, base?: string | URL): boolean {
        seen.push(String(text));
        return Platform.canParse(text, base);
      }
    },
  );
  return seen;
}

afterEach(() => void vi.unstubAllGlobals());

const longHosts = [
  ["5,000 distinct characters", `https://${distinct}/`],
  ["5,000 distinct characters, behind credentials", `https://a:b@${distinct}/`],
  ["5,000 distinct characters, before a port", `https://${distinct}:443/`],
  ["5,000 distinct characters, encoded", `https://${encodeURIComponent(distinct)}/`],
  ["5,000 distinct characters, without slashes", `https:${distinct}`],
  ["5,000 distinct characters, after backslashes", `https:\\\\${distinct}`],
  ["5,000 distinct characters, after white space", ` \u0000https://${distinct}`],
  ["5,000 distinct characters, with tabs in the scheme", `ht\ttps:/\t/${distinct}`],
  ["5,000 distinct characters, behind an @ in the credentials", `https://a@b@${distinct}/`],
  ["a label of 64 characters", `https://${"a".repeat(64)}.example/`],
  ["254 characters", `https://${deep.slice(0, 253)}b/`],
  ["many labels, by the other dots", `https://${deep.replaceAll(".", "\u3002")}/`],
] as const;

describe("a host that is too long", () => {
  it.each(longHosts)("is refused before the platform reads it: %s", (_, text) => {
    const seen = spyOnUrl();
    expect(parseUrl(text)).toBeUndefined();
    expect(plainHost(text.trim())).toHaveProperty("fault");
    expect(seen).toEqual([]);
  });

  it("is refused in a reference, and in its base", () => {
    const seen = spyOnUrl();
    for (const start of ["//", "/\\", "\\\\", " //", "/\t/"])
      expect(parseUrl(start + distinct, "https://a.example")).toBeUndefined();
    expect(parseUrl("/", `https://${distinct}`)).toBeUndefined();
    expect(seen).toEqual([]);
  });

  it("is refused by the network broker, whatever is granted", () => {
    const seen = spyOnUrl();
    const url = `https://${distinct}/`;
    const needs = netBroker().needs({ kind: "net.read", operation: "fetch", arguments: { url } });
    expect(needs).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
    expect(seen).toEqual([]);
  });

  it("is no host pattern", () => {
    const seen = spyOnUrl();
    expect(checkHostPattern(distinct)).toBe("it is not a host");
    expect(checkHostPattern(`*.${distinct}`)).toBe("it is not a host");
    expect(seen).toEqual([]);
  });

  it("is refused by the interpreter's services", () => {
    const seen = spyOnUrl();
    expect(services["parseUrl"]!([`https://${distinct}/`])).toBeUndefined();
    expect(services["parseUrl"]!(["/", `https://${distinct}/`])).toBeUndefined();
    const before = services["changeUrl"]!(["https://a.example/", "port", "1"]);
    for (const part of ["host", "hostname"])
      expect(services["changeUrl"]!(["https://a.example:1/", part, distinct])).toBe(before);
    expect(seen.filter((text) => text.length > 300)).toEqual([]);
  });
});

describe("what is no host", () => {
  it.each([
    `https://a.example/${distinct}`,
    `https://a.example/?q=${distinct}`,
    `https://a.example#${distinct}`,
    `data:text/plain,${distinct}`,
    `mailto:${distinct}`,
    `https://${"u".repeat(300)}:${"p".repeat(300)}@a.example/`,
    `https://${deep.slice(0, 253)}./`,
    `https://${"a".repeat(63)}.example:65535/`,
  ])("may be as long as it likes: %.40s", (text) => {
    expect(parseUrl(text)?.href).toBe(new URL(text).href);
  });

  it("may be long in a relative reference too", () => {
    expect(parseUrl(distinct, "https://a.example/b")?.href).toBe(new URL(distinct, "https://a.example/b").href);
  });

  it.each(["", "no URL", "https://", "https://a b/", "http://[::1", "//a.example"])(
    "is refused as before: %j",
    (text) => {
      expect(parseUrl(text)).toBeUndefined();
    },
  );
});
