import { changeUrl, readUrl } from "../../packages/worker-host/src/wasm/interpreter/urls.ts";

/* URLs of every kind on which engines differ, and of those that they all read alike, in every combination. */

const schemes = [
  "http://",
  "HTTPS:",
  "ws:\\\\",
  "ftp://",
  "file://",
  "file:///",
  "file:",
  "foo://",
  "foo:",
  "//",
  "",
  "data:,",
];
const places = [
  [
    "a",
    "A.Example.",
    "a b",
    "a%20b",
    "a..b",
    ".",
    "",
    "localhost",
    "a_b",
    "a*b",
    "a'b",
    'a"b',
    "a<b",
    "a^b",
    "a|b",
    "a{b",
    "a`b",
  ],
  [
    "xn--a",
    "xn--",
    "xn--mnchen-3ya.de",
    "xn--a.b",
    "XN--NXA",
    "xn--0",
    "xn--a-",
    "xn--zca",
    "m\u00fcnchen.de",
    "fa\u00df.de",
    "\u2603.net",
  ],
  [
    "a\u00adb",
    "\u00ad",
    "\u200d",
    "a\u3002b",
    "\uff11\uff12\uff17.0.0.1",
    "\ud83d\ude00.a",
    "\u05d0a",
    "-a",
    "a-",
    "ab--c",
    "%41",
    "%zz",
    "%e2%98%83",
  ],
  [
    "127.1",
    "0x7f.1",
    "1.2.3.4.5",
    "256.0.0.1",
    "09.1",
    "1.",
    "[::1]",
    "[::1",
    "[::ffff:1.2.3.4]",
    "[v1.a]",
    "a:80",
    "a:443",
    "a:99999",
    "a:",
    "a:b",
  ],
  ["u:p@a", "u@a:1", "@a", "u:@a", "u'p@a", "C|", "C:", "c%7C", "a\\b", "\ta\n", " a "],
].flat();
const rests = [
  "",
  "/",
  "/a/../b",
  "/%2e%2e/x",
  "/a b%20",
  "/C|/x",
  "/C:/../x",
  "/a^b'c\"",
  "/\u00e9\ud83d\ude00",
  "/{}|`",
  "\\a",
  "?q=a b'\"<>`^",
  "?\u00e9#\u00e9",
  '#f `<>"^',
  "/x ",
  "//y",
];
const bases = [undefined, "https://b.example/c/d?e#f", "file:///x/y", "foo://h/a/b"];

const parts = ["protocol", "host", "hostname", "port", "pathname", "search", "hash", "username", "password"];
const values = [
  "",
  "x",
  "a b",
  "C|",
  "xn--a",
  "m\u00fcnchen",
  "a:80",
  "99999",
  "?q'#",
  "/../%2e^",
  "https:",
  "file",
  "\ud83d\ude00|",
];

/** Each text, and what the interpreter makes of it. */
export function urlsRead(): Record<string, string> {
  const read: Record<string, string> = {};
  for (const scheme of schemes)
    for (const place of places)
      for (const rest of rests)
        for (const base of scheme.includes(":") ? [undefined] : bases) {
          const text = `${scheme}${place}${rest}`;
          read[`${text} from ${base}`] = readUrl(text, base) ?? "none";
        }
  for (const href of ["https://u@a.example:81/b?c#d", "file:///a/b", "foo://a/b", "data:,a"])
    for (const part of parts)
      for (const value of values) read[`${part} of ${href} = ${value}`] = changeUrl(href, part, value);
  return Object.fromEntries(Object.entries(read).map(([text, found]) => [text, hrefOf(found)]));
}

/** The rest follows from it. */
const hrefOf = (found: string): string =>
  found === "none" ? found : (JSON.parse(found) as { readonly href: string }).href;

/** Run by Vite's own Node. */
export default async function onNode(): Promise<Record<string, string>> {
  return urlsRead();
}
