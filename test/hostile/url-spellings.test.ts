import { createKernel } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import httpFetch from "../../packages/worker-host/src/tools/http-fetch.ts";
import { openSession } from "../brokers/session.ts";
import { sized } from "../support/size.ts";

const anyHost = { grants: [{ kind: "net.read", hosts: ["*"], ports: [80, 443] }] } as const;

/** The requests that left for a URL, under a grant of every public host. */
async function sentFor(url: string): Promise<readonly string[]> {
  const sent: string[] = [];
  const broker = netBroker({
    fetch(asked) {
      sent.push(asked);
      return Promise.resolve(new Response(""));
    },
  });
  const request = { kind: "net.read", operation: "fetch", arguments: { url } } as const;
  const session = openSession(anyHost);
  // As the kernel's gate does it.
  const asked = await broker.needs(request);
  if (asked.ok && asked.needs.every((need) => session.refusal(need) === undefined))
    await broker.serve(request, session);
  return sent;
}

const digits = (text: string, base: number): string =>
  text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(base + Number(digit)));

/** One number as URL parsers take it (URL Standard, "IPv4 number parser"), in a script of its own choice. */
const numberForms: readonly ((value: number) => string)[] = [
  String,
  (value) => `0x${value.toString(16)}`,
  (value) => `0X${value.toString(16).toUpperCase().padStart(9, "0")}`,
  (value) => `0${value.toString(8)}`,
  (value) => `00000${value.toString(8)}`,
  (value) => digits(String(value), 0xff10),
  (value) => digits(String(value), 0x1d7ce),
  (value) => [...String(value)].map((digit) => `%3${digit}`).join(""),
];

const dot = fc.constantFrom(".", ".", "\u3002", "\uff0e", "\uff61", "%2e");

/** The parts that are left when the last one takes what the others leave: `1.2.3.4`, `1.2.772`, `1.131844`, `16909060`. */
function partsOf(address: number, count: number): readonly number[] {
  const bytes = [24, 16, 8, 0].map((shift) => (address >>> shift) & 255);
  const last = bytes.slice(count - 1).reduce((sum, byte) => sum * 256 + byte, 0);
  return [...bytes.slice(0, count - 1), last];
}

const fourText = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      fc.constantFrom(0x7f000001, 0xa9fea9fe, 0x0a000001, 0xc0a80001, 0),
    ),
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.nat(numberForms.length - 1), { minLength: 4, maxLength: 4 }),
    dot,
    fc.boolean(),
  )
  .map(([address, count, forms, separator, trailing]) => {
    const parts = partsOf(address, count).map((part, at) => numberForms[forms[at]!]!(part));
    return parts.join(separator) + (trailing ? "." : "");
  });

const sixText = fc
  .tuple(
    fc.constantFrom("::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:", "2002:", "2001::", "fe80::5efe:", ""),
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc.boolean(),
    fc.ipV6(),
  )
  .map(([prefix, address, dotted, any]) => {
    if (prefix === "") return any;
    const words = `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`;
    if (prefix === "2002:") return `${prefix}${words}::1`;
    return prefix + (dotted ? partsOf(address, 4).join(".") : words);
  });

describe("a grant of every public host", () => {
  it("covers no form of an IPv4 address", () =>
    fc.assert(
      fc.asyncProperty(fourText, async (host) => {
        expect(await sentFor(`http://${host}/`)).toEqual([]);
      }),
      { numRuns: sized(250, 2_000) },
    ));

  it("covers no form of an IPv6 address", () =>
    fc.assert(
      fc.asyncProperty(sixText, async (host) => {
        expect(await sentFor(`http://[${host}]/`)).toEqual([]);
      }),
      { numRuns: sized(125, 1_000) },
    ));

  it("covers no spelling of a private name", () => {
    const spelt = (text: string, styles: readonly number[]): string =>
      [...text]
        .map((letter, at) => {
          const style = styles[at % styles.length]!;
          if (style === 1) return letter.toUpperCase();
          if (style === 2) return `%${letter.charCodeAt(0).toString(16)}`;
          if (style === 3 && letter >= "a" && letter <= "z")
            return String.fromCodePoint(letter.charCodeAt(0) - 97 + 0xff41);
          return style === 4 ? `${letter}\u00ad` : letter;
        })
        .join("");
    return fc.assert(
      fc.asyncProperty(
        fc.constantFrom("localhost", "local", "internal", "home.arpa", "nip.io", "metadata.goog", "onion", "lan"),
        fc.constantFrom("", "a.", "a.b.", "127.0.0.1.", "xn--bcher-kva."),
        fc.array(fc.nat(4), { minLength: 1, maxLength: 6 }),
        fc.constantFrom("", ".", "\u3002"),
        async (name, below, styles, end) => {
          expect(await sentFor(`http://${below}${spelt(name, styles)}${end}/`)).toEqual([]);
        },
      ),
      { numRuns: sized(125, 1_000) },
    );
  });

  it("covers every ordinary name", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z]([a-z0-9]{0,10}[a-z])?$/), { minLength: 1, maxLength: 3 }),
        fc.constantFrom("com", "org", "net", "co.uk", "io", "dev", "xn--p1ai"),
        async (labels, end) => {
          const host = `${labels.join(".")}.${end}`;
          fc.pre(!/(^|\.)(nip|sslip|xip)\.io$|(^|\.)lacolhost\.com$|^metadata\./.test(host));
          expect(await sentFor(`https://${host}/`)).toHaveLength(1);
        },
      ),
      { numRuns: sized(100, 500) },
    ));
});

/** The result of a tool with a grant for `/public` of one host, and the requests that left. */
async function ask(url: string, headers: Record<string, string> = {}) {
  const sent: string[] = [];
  const kernel = await createKernel({
    policy: {
      version: "1",
      posture: "standard",
      grants: [{ tool: "http_fetch", capability: { kind: "net.read", hosts: ["example.com"], paths: ["/public"] } }],
    },
    brokers: [
      netBroker({
        async fetch(target) {
          sent.push(target);
          return new Response("");
        },
      }),
    ],
  });
  kernel.registerTrusted(httpFetch);
  return { result: await kernel.call("http_fetch", { url, headers }), sent };
}

describe("a grant for one path", () => {
  it.each(["x-original-url", "X-Rewrite-URL", "x-original-uri"])(
    "does not send the header %s, which some servers take for the path",
    async (name) => {
      const { result, sent } = await ask("https://example.com/public", { [name]: "/admin" });
      expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
      expect(sent).toEqual([]);
    },
  );

  it.each([
    "/public/..;/admin",
    "/public/..;x=1/admin",
    "/public/%2e.;/admin",
    "/public/..%3b/admin",
    "/public/..%3B/admin",
    "/public/%252e%252e/admin",
    "/public/..%252fadmin",
    "/public/..%255cadmin",
  ])("does not cover %s, which some servers read as /admin", async (path) => {
    const { result, sent } = await ask(`https://example.com${path}`);
    expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(sent).toEqual([]);
  });

  it.each(["/public", "/public/a;b=1/c", "/public/100%25", "/public/...", "/public/a..;b", "/public/.well-known"])(
    "covers %s",
    async (path) => {
      expect((await ask(`https://example.com${path}`)).sent).toEqual([`https://example.com${path}`]);
    },
  );
});
