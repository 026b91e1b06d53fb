import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { PathTree } from "../../packages/kernel/src/capability/matching/path-tree.ts";
import { isPlain, urlPath } from "../../packages/kernel/src/capability/matching/plain.ts";
import { checkPathPrefix, pathGranter, pathToucher } from "../../packages/kernel/src/capability/matching/url-paths.ts";
import { sized } from "../support/size.ts";
import { behindPlainPaths } from "./behind-plain-paths.ts";

afterEach(() => vi.restoreAllMocks());

const segment = fc.constantFrom("a", "b", "c", "");
const segments = fc.array(segment, { maxLength: 6 }).map((parts) => ["", ...parts]);

describe("a tree of prefixes", () => {
  it("has what one of them has", () =>
    fc.assert(
      fc.property(fc.array(segments, { maxLength: 6 }), segments, (prefixes, path) => {
        const texts = prefixes.map((each) => each.join("/"));
        const text = path.join("/");
        const isUnder = texts.some((each) => text === each || text.startsWith(each.endsWith("/") ? each : `${each}/`));
        expect(new PathTree(texts).has(path)).toBe(isUnder);
      }),
      { numRuns: 2_000 },
    ));

  it("meets what it has, and names that go on with a sign", () => {
    const name = fc.constantFrom("a", "ab", "a.b", "a!", "a.b(7)", "b", "a-b", "a_b", "aé", "a\u{1d49c}", "a\u{1f600}");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => ["", ...names]);
    fc.assert(
      fc.property(fc.array(path, { maxLength: 5 }), path, (prefixes, given) => {
        const isMet = prefixes.some((prefix) =>
          prefix.every((each, at) => {
            const rest = given[at]?.startsWith(each) ? given[at].slice(each.length) : undefined;
            return rest !== undefined && !/^[\p{L}\p{N}_+-]/u.test(rest);
          }),
        );
        expect(new PathTree(prefixes.map((each) => each.join("/"))).meets(given)).toBe(isMet);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([1, 100, 10_000])("takes as many steps as the path has segments, with %i prefixes", (count) => {
    const tree = new PathTree(Array.from({ length: count }, (_, at) => `/a/b/c/${at}`));
    for (const ask of ["has", "meets"] as const) {
      const get = vi.spyOn(Map.prototype, "get");
      tree[ask]("/a/b/c/none/at/all".split("/"));
      const steps = get.mock.calls.length;
      vi.restoreAllMocks();
      expect(steps).toBeLessThanOrEqual(7);
    }
  });
});

/** Requests that a deny meets, and ones that it spares. */
const denials: readonly (readonly [deny: string, met: readonly string[], notMet: readonly string[]])[] = [
  [
    "/admin",
    [
      "/app/index.php/../admin",
      "/admin.json",
      "/admin.html",
      "/admin.tar.gz",
      "/admin;x=1",
      "/%3b..+/admin",
      "/admin.json;x=1",
      "/admin%2ejson",
      "/ADMIN.JSON",
      "/admin.json/",
      "/admin/index.php",
      "/admin.php",
      "/admin.php/users",
    ],
    ["/administrator", "/docs/admin.json", "/index.html", "/index.php/docs", "/a.b/admin-guide", "/.well-known/admin"],
  ],
  [
    "/public/index.php/admin",
    ["/public/index.php/admin"],
    ["/public/users", "/administrator", "/docs/admin", "/public/index.php/users"],
  ],
  [
    "/users",
    [
      "/users.1",
      "/users.abcdefghijkl",
      "/users!go",
      "/users!go.action",
      "/users(1)",
      "/users~",
      "/a.b/c.d/../../users",
      "/a.b/x/../users/1",
      "/a/b.c/users/..%2fusers",
      "/users%C2%85",
      "/users%C2%80",
      "/users%C2%9F",
      ..."C2%A0 E1%9A%80 E2%80%80 E2%80%8A E2%80%8B E2%80%A8 E2%80%A9 E2%80%AF E2%81%9F E3%80%80 EF%BB%BF E2%A0%80"
        .split(" ")
        .flatMap((each) => [`/users%${each}`, `/%${each}users/1`]),
    ],
    ["/usersx", "/usersx.html", "/a/users", "/v/users.html", "/users-guide(1)", "/x!users", "/(a)", "/a.b/c.d/e.f"],
  ],
  [
    "/admin/delete",
    ["/admin.php/delete", "/admin/delete.do"],
    ["/admin.php/list", "/admin/x/delete", "/admin", "/delete"],
  ],
  ["/secret.html", ["/secret.html", "/secret.html.gz"], ["/secrets", "/secret.pdf", "/secretly.html", "/a/secret"]],
  ["/admin.php/delete", ["/admin.php/delete/1"], ["/admin/list", "/admin.php"]],
  ["/backup.tar.gz", ["/backup.tar.gz"], ["/back", "/backup.zip"]],
  [
    "/docs/index.html",
    ["/docs/index.html", "/docs/INDEX.html/"],
    ["/docs/a.html", "/docs/a", "/docs/a.b/c", "/", "/docs.x/y"],
  ],
  ["/index.html", ["/index.html"], ["/style.css", "/docs/", "/docs/style.css"]],
  ["/api/v1.2", ["/api/v1.2/users", "/api/v1.2.json"], ["/api/v1/users", "/api/v1.3/users", "/api/v1"]],
  [
    "/docs/internal",
    ["/docs/internal.html", "/docs/internal"],
    ["/docs/internals", "/docs/internals.html", "/docs/inter.nal"],
  ],
  ["/a", ["/a.html"], ["/ab.html", "/b.a", "/b"]],
  ["/.git", ["/.git/config", "/.git.bak"], ["/.github", "/.gitignore"]],
  [
    "/administrator",
    // Short names of Windows are not plain, also those of other files.
    ["/ADMINI~1", "/ADMINI~2/users", "/ADMIN~10", "/AD12EF~1", "/ADMINI~1.X", "/x.php/ADMINI~1", "/ADMINX~1", "/A~1"],
    ["/~admin", "/admini~"],
  ],
  ["/my files/annual.report.html", ["/MYFILE~1/ANNUAL~1.HTM", "/MYFILM~1/x"], ["/my", "/my-files"]],
  [
    "/api/users/42",
    [
      "/api/users/42",
      "/api/users/42,8",
      "/api/users/42'",
      "/api/users/42%22",
      "/api/users/%34%32",
      "/v1/../api/users/42",
    ],
    [
      "/api/users/a42",
      "/api/users/4-2",
      "/api/users/e42",
      "/api/users/0x42",
      "/api/users/420",
      "/v/1.10",
      "/2024-01-02",
    ],
  ],
];

describe.each(denials)("a deny of %s", (deny, met, notMet) => {
  const touches = pathToucher([deny]);

  it("meets its place in every spelling, and what is not plain", () =>
    expect(met.filter((each) => !touches(each))).toEqual([]));

  it("spares the rest", () => expect(notMet.filter((each) => touches(each))).toEqual([]));
});

describe.each(Object.entries(behindPlainPaths))("%s", (_, rows) => {
  it("stands behind a plain path: no deny meets it, and a grant of its place alone covers it", () => {
    const ways = rows.map(([deny, path]) => [
      isPlain(urlPath(path)),
      pathToucher([deny])(path),
      pathGranter(["/nowhere"])(path),
    ]);
    expect(ways).toEqual(rows.map(() => [true, false, false]));
  });
});

describe("a path", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "a",
      "B",
      "é",
      "ﬀ",
      "İ",
      "ς",
      "¥",
      "⁄",
      " ",
      "+",
      ".",
      "..",
      "/",
      ";",
      "?",
      "#",
      ":",
      "~1",
      "%",
      "%25",
    ),
    fc.constantFrom("%2e", "%2f", "%3b", "%5c", "%20", "%C3%A9", "%c0%ae", "%E2%80%8B", "%E2%A0%80", "\\", "\u0301"),
  );
  const path = fc.array(piece, { maxLength: 12 }).map((parts) => `/${parts.join("")}`);

  it("whose key is read again has the same key", () =>
    fc.assert(
      fc.property(path, (given) => {
        const read = urlPath(given);
        fc.pre(isPlain(read));
        const again = urlPath(
          encodeURI((read as { key: string }).key)
            .replaceAll("?", "%3F")
            .replaceAll("#", "%23"),
        );
        expect(again).toEqual(read);
      }),
      { numRuns: sized(5_000, 200_000) },
    ));

  it("that is not plain is met by each deny and covered by / alone, and its plain spelling is plain", () =>
    fc.assert(
      fc.property(path, (given) => {
        const read = urlPath(given);
        fc.pre(!isPlain(read));
        expect(pathToucher(["/nowhere/near"])(given)).toBe(true);
        expect(pathGranter([given, "/a"])(given)).toBe(false);
        expect(pathGranter(["/"])(given)).toBe(true);
        const { plain } = read as { plain?: string };
        if (plain !== undefined) expect(isPlain(urlPath(plain))).toBe(true);
      }),
      { numRuns: sized(5_000, 200_000) },
    ));

  it.each([
    ["/docs/%2569nternal", "it is encoded twice", "/docs/internal"],
    ["/docs/..%2fadmin", "it has a step to another folder", "/admin"],
    ["/docs/..;a=b/admin", "it has a step to another folder", undefined],
    ["/docs\\admin", "servers read a backslash as a slash", undefined],
    ["/docs/%c0%af", "an escape is no UTF-8", undefined],
    ["/docs/%0aadmin", "it has a control character", "/docs/admin"],
    ["/docs/ADMINI~1", "a file system finds another file by this name", undefined],
    ["/docs/a;b%2fc", "servers end its parameter at different places", "/docs/a;b/c"],
    [`/a${"\u0301".repeat(31)}`, "a letter has more than 30 marks", undefined],
  ])("%j is not plain: %s", (given, fault, plain) => {
    const read = urlPath(given);
    expect(read).toMatchObject({ fault });
    expect((read as { plain?: string }).plain).toBe(plain);
  });

  it.each(["/a".repeat(200_000), "/%2e%2e".repeat(100_000), `/${"%25".repeat(100_000)}`, `/${" .".repeat(100_000)}x`])(
    "of 400 KB is read in the measure of its length",
    (given) => {
      const exec = vi.spyOn(RegExp.prototype, "exec");
      pathToucher(["/admin"])(given);
      const read = exec.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
      vi.restoreAllMocks();
      expect(read).toBeLessThanOrEqual(16 * given.length);
    },
  );
});

describe("a prefix", () => {
  it("is plain, or it is refused with the plain spelling", () => {
    expect(checkPathPrefix("/docs/%C3%A4/a%20b")).toBeUndefined();
    expect(checkPathPrefix("/docs/%2569nternal")).toBe('it is encoded twice; write "/docs/internal"');
    expect(checkPathPrefix("/docs/../a")).toContain('write "/a"');
    expect(checkPathPrefix("docs")).toBe("a path prefix starts with /");
    expect(checkPathPrefix("/docs/*")).toBe("a path prefix has no wildcards");
  });
});

it("a deny of a number meets no other number, and no grant covers another spelling", () => {
  const number = fc.bigInt({ min: 0n, max: 10n ** 20n });
  fc.assert(
    fc.property(number, number, fc.nat(3), (value, other, padding) => {
      fc.pre(value !== other);
      const prefix = `/api/users/${value}`;
      expect(pathToucher([prefix])(`/api/users/${"0".repeat(padding)}${other}`)).toBe(false);
      expect(pathGranter([prefix])(`/api/users/0${value}`)).toBe(false);
    }),
    { numRuns: sized(300, 10_000) },
  );
});

describe("a grant of /pub", () => {
  const covers = pathGranter(["/pub"]);
  const spaces = "C2%A0 E1%9A%80 E2%80%80 E2%80%8B E2%80%A8 E2%80%A9 E2%80%AF E2%81%9F E3%80%80 EF%BB%BF E2%A0%80";

  it.each(["C2%80", "C2%85", "C2%9F", ...spaces.split(" ")])("covers no step up that ends in %j", (sign) => {
    for (const path of [`/pub/..%${sign}/x`, `/pub/%${sign}../x`, `/pub/%${sign}..%${sign}/x`])
      expect(covers(path)).toBe(false);
  });

  it("covers what is plain, however it goes on", () => {
    for (const path of ["/pub/a.b/c.tar.gz", "/pub/users(1)", "/pub/(S(x))/y", "/pub/x!y", "/pub/v1.2", "/pub/g%2fp"])
      expect(covers(path), path).toBe(true);
    expect(covers("/pub/LONGNA~1")).toBe(false);
  });
});
