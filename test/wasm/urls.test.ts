import { describe, expect, it } from "vitest";
import { unicodeOf } from "../../packages/worker-host/src/wasm/interpreter/punycode.ts";
import { changeUrl, readUrl } from "../../packages/worker-host/src/wasm/interpreter/urls.ts";
import { services } from "../../packages/worker-host/src/wasm/interpreter/services.ts";
import { urlsRead } from "./urls.ts";

const hrefOf = (text: string): unknown => {
  const found = readUrl(text, undefined);
  return found && (JSON.parse(found) as { readonly href: string }).href;
};

describe("a URL in the interpreter", () => {
  it.each(["http://a b/", "file:///C|/x", "file:///c:/x", "http://xn--a/", "http://xn--a.example/", "http://xn--/"])(
    "is none where engines differ: %s",
    (text) => expect(hrefOf(text)).toBeUndefined(),
  );

  it.each([
    ["https://m\u00fcnchen.de/a", "https://xn--mnchen-3ya.de/a"],
    ["https://xn--mnchen-3ya.de/a", "https://xn--mnchen-3ya.de/a"],
    ["http://xn--n3h.net", "http://xn--n3h.net/"],
    ["http://A.EXAMPLE:80/x/../y?q=a b#c", "http://a.example/y?q=a%20b#c"],
    ["foo://a/b c", "foo://a/b%20c"],
    ["file:///etc/x", "file:///etc/x"],
    ["mailto:a@b.example?subject=a b", "mailto:a@b.example?subject=a%20b"],
    ["data:text/plain,\u00e9", "data:text/plain,%C3%A9"],
    ["http://[::1]:8080/", "http://[::1]:8080/"],
  ])("is read: %s", (text, href) => expect(hrefOf(text)).toBe(href));

  it("stays as it is where a part would make it one that engines read differently", () => {
    const changed = changeUrl("http://a.example/b", "hostname", "xn--a");
    expect(JSON.parse(changed)).toMatchObject({ href: "http://a.example/b" });
    expect(JSON.parse(changeUrl("http://a.example/b", "hostname", "c.example"))).toMatchObject({ host: "c.example" });
  });

  it("is of many kinds in the comparison of engines", () => {
    const hrefs = Object.values(urlsRead());
    expect(new Set(hrefs).size).toBeGreaterThan(3_000);
    expect(hrefs.filter((href) => href === "none").length).toBeGreaterThan(1_000);
  });
});

it.each([
  ["mnchen-3ya", "m\u00fcnchen"],
  ["n3h", "\u2603"],
  ["ls8h", "\ud83d\udca9"],
  ["ihqwcrb4cv8a8dqg056pqjye", "\u4ed6\u4eec\u4e3a\u4ec0\u4e48\u4e0d\u8bf4\u4e2d\u6587"],
  [
    "egbpdaj6bu4bxfgehfvwxn",
    "\u0644\u064a\u0647\u0645\u0627\u0628\u062a\u0643\u0644\u0645\u0648\u0634\u0639\u0631\u0628\u064a\u061f",
  ],
  ["a-", "a"],
  ["99999999999", undefined],
  ["a_", undefined],
])("Punycode %s stands for %s", (encoded, text) => expect(unicodeOf(encoded)).toBe(text));

it.each(["gbk", "koi8-r", "utf-7", "x-user-defined"])(
  "%s is no encoding in the interpreter: engines differ",
  (label) => {
    expect(() => services["decode"]!([new Uint8Array(), label, ""])).toThrow(RangeError);
  },
);

it("windows-1252 is decoded in the interpreter as the standard says", () => {
  const bytes = Uint8Array.of(0x41, 0x80, 0x81, 0x9f, 0xa0, 0xe9, 0xff);
  expect(services["decode"]!([bytes, "windows-1252", ""])).toBe("A\u20ac\u0081\u0178\u00a0\u00e9\u00ff");
});
