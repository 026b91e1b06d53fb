import { readFileSync } from "node:fs";
import { posix } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { pathGranter, pathToucher } from "../../packages/kernel/src/capability/matching/url-paths.ts";
import { sized } from "../support/size.ts";

/** Spellings that real servers (Node, express, hono, Python, nginx, Caddy) were seen to lead to a denied place, or out of the granted one. */
const [head = "", ...rows] = readFileSync(new URL("path-places.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const seen = rows.map((row) => {
  const [places = "", path = ""] = row.split(" ");
  return { places, path };
});

it("names seven servers, each of which was led astray", () => {
  const servers = head.split(":")[0]!.split(";");
  expect(servers).toHaveLength(7);
  for (const at of servers.keys()) expect(seen.some(({ places }) => "do".includes(places[at]!))).toBe(true);
  expect(seen.length).toBeGreaterThan(500);
});

it("a deny meets every spelling that a server was seen to lead to the denied place", () => {
  const touches = pathToucher(["/docs/internal"]);
  expect(seen.filter(({ places, path }) => places.includes("d") && !touches(path))).toEqual([]);
});

it("a grant covers no spelling that a server was seen to lead out of it", () => {
  expect(seen.filter(({ places, path }) => places.includes("o") && pathGranter(["/docs"])(path))).toEqual([]);
});

it.each(["/b/my secret", "/b/my%20secret", "/b/my+secret"])(
  "a deny of %s meets it with a plus for the space",
  (deny) => {
    const touches = pathToucher([deny]);
    for (const path of ["/b/my%20secret", "/b/my+secret", "/b/my%2bsecret/x", "/b/+my+secret+"])
      expect(touches(path)).toBe(true);
    expect(touches("/b/mysecret")).toBe(false);
  },
);

it("a grant covers a path with a plus, and no step up behind one", () => {
  expect(pathGranter(["/b/c++"])("/b/c++/a+b")).toBe(true);
  expect(pathGranter(["/b"])("/b/..+/a")).toBe(false);
});

/** What a server may do to a path, written here anew; any in any order makes a server. */
const habits: Readonly<Record<string, (path: string) => string>> = {
  decode: (path) => {
    try {
      return decodeURIComponent(path);
    } catch {
      return path;
    }
  },
  decodeEach: (path) =>
    path.replaceAll(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16))),
  merge: (path) => path.replaceAll(/\/+/g, "/"),
  plus: (path) => path.replaceAll("+", " "),
  backslash: (path) => path.replaceAll("\\", "/"),
  parameters: (path) => path.replaceAll(/;[^/]*/g, ""),
  query: (path) => path.split("?")[0]!,
  case: (path) => path.toLowerCase(),
  windows: (path) =>
    path
      .split("/")
      .map((segment) => (/[^. ]/.test(segment) ? segment.replace(/[. ]+$/, "") : segment.trimEnd()))
      .join("/"),
  dots: (path) => posix.normalize(path),
};

const lies = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

it("whatever a server does to any spelling, no grant is left and no deny is passed", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
  const piece = fc.oneof(
    name,
    fc.constantFrom("/", "//", "..", "/../", ".", ";a=b", "%2f", "%252f", "%5c", "\\", "%2e", "%252e%252e", "%%32%66"),
    fc.constantFrom(
      "%20",
      " ",
      "+",
      "%2b",
      "..+/",
      "%3b",
      "%3f",
      "%25",
      "%69",
      "%2569",
      "%%36%39",
      "%41",
      "?",
      "..;/",
      "/./",
    ),
  );
  const server = fc.array(fc.constantFrom(...Object.keys(habits)), { maxLength: 7 });
  let denied = 0;
  let granted = 0;
  fc.assert(
    fc.property(
      fc.array(name, { minLength: 1, maxLength: 2 }),
      name,
      fc.array(piece, { maxLength: 6 }),
      fc.nat(99),
      server,
      (above, below, pieces, at, steps) => {
        const grant = `/${above.join("/")}`;
        const deny = `${grant}/${below}`;
        const spelt = [
          ...pieces.slice(0, at % 4),
          at % 3 === 0 ? `%${below.codePointAt(0)!.toString(16)}${below.slice(1)}` : below,
          ...pieces.slice(at % 4),
        ];
        const path = `${grant}/${spelt.join("")}`;
        const place = steps.reduce((each, step) => habits[step]!(each), path).replace(/(?<=.)\/$/, "");
        if (lies(deny, place)) {
          denied++;
          expect(pathToucher([deny])(path)).toBe(true);
        }
        if (pathGranter([grant])(path)) {
          granted++;
          expect(lies(grant, place)).toBe(true);
        }
      },
    ),
    { numRuns: sized(20_000, 400_000) },
  );
  expect(denied).toBeGreaterThan(500);
  expect(granted).toBeGreaterThan(500);
});
