import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { PathTree } from "../../packages/kernel/src/capability/matching/path-tree.ts";
import { checkPathPrefix, pathGranter, pathToucher } from "../../packages/kernel/src/capability/matching/url-paths.ts";

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

  it.each([1, 100, 10_000])("takes as many steps as the path has segments, with %i prefixes", (count) => {
    const tree = new PathTree(Array.from({ length: count }, (_, at) => `/a/b/c/${at}`));
    const get = vi.spyOn(Map.prototype, "get");
    tree.has("/a/b/c/none/at/all".split("/"));
    const steps = get.mock.calls.length;
    vi.restoreAllMocks();
    expect(steps).toBeLessThanOrEqual(7);
  });
});

describe("the path of a request", () => {
  /** Each reading takes every step of a server, one of which asks this. */
  const stepsOf = (check: () => unknown): number => {
    const split = vi.spyOn(String.prototype, "split");
    check();
    const steps = split.mock.calls.length;
    vi.restoreAllMocks();
    return steps;
  };
  const hostile = `/${"%2525252e%3bx;y=1%5c".repeat(40)}/z`;

  it("is read as often for many prefixes as for one", () => {
    const prefixes = Array.from({ length: 900 }, (_, at) => `/${at}`);
    const [few, many] = [prefixes.slice(0, 1), prefixes].map((some) => pathToucher(some));
    const once = stepsOf(() => few!(hostile));
    expect(stepsOf(() => many!(`${hostile}z`))).toBeLessThanOrEqual(once + 2);
  });

  it("that has more readings than may be read is denied, and granted by nothing but /", () => {
    const path = `/docs/${"a;b/".repeat(600)}x`;
    expect(pathToucher(["/nowhere/near"])(path)).toBe(true);
    expect(pathGranter(["/docs"])(path)).toBe(false);
    expect(pathGranter(["/"])(path)).toBe(true);
  });

  it("is read in no more steps than it may take, whatever it is", () =>
    fc.assert(
      fc.property(
        fc
          .array(fc.constantFrom("%25", "%2e", "..", "/", "\\", ";x", "%2f", "a", " ", ".", "%3b", "%5c"), {
            maxLength: 900,
          })
          .map((parts) => `/${parts.join("")}`),
        (path) => {
          const touches = pathToucher(["/docs"]);
          // 32,768 characters of at least 17 a reading, and seven steps for each.
          expect(stepsOf(() => touches(path))).toBeLessThan(16_000);
        },
      ),
      { numRuns: 100 },
    ));
});

describe("a prefix", () => {
  it("takes readings in the measure of its own length, and is refused beyond", () => {
    expect(checkPathPrefix("/docs/%C3%A4/a%20b")).toBeUndefined();
    expect(checkPathPrefix(`/${"%2525252e;x%5c".repeat(60)}`)).toBe("servers differ on it");
  });
});

describe("names with many suffixes", () => {
  const suffixes = `${".a".repeat(900)}-`;
  const scripts = "/a.php/b.php/c.php/d.php/%2541%5cx9";

  it("are met by every deny once they take more work than one request may", () => {
    expect(pathToucher(["/nowhere/near"])(`/${suffixes}`)).toBe(true);
    expect(pathToucher(["/nowhere/near"])(`${scripts}${suffixes}`)).toBe(true);
    expect(pathGranter(["/a.php"])(`${scripts}${suffixes}`)).toBe(false);
  });

  it("are handed to no pattern more often than a request may be read", () => {
    const exec = vi.spyOn(RegExp.prototype, "exec");
    pathToucher(["/admin"])(`${scripts}${suffixes}`);
    const read = exec.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    vi.restoreAllMocks();
    expect(read).toBeLessThanOrEqual(32_768);
  });

  it("behind as many scripts as may be are looked up in a counted number of steps", () =>
    fc.assert(
      fc.property(
        fc
          .array(fc.constantFrom("a", ".a", "/", "/a.b/", "(", ")", "!", "~1", "..%2f", "%5c", "%252e"), {
            maxLength: 900,
          })
          .map((parts) => `/${parts.join("")}`),
        (path) => {
          const touches = pathToucher(["/a/a/a/b", "/a.a/a/c", `${"/a".repeat(400)}/b`, "/aaaaaaa/c.d"]);
          touches(path);
          // The path is read by now: what is left are look-ups.
          const looks = [
            vi.spyOn(Map.prototype, "get"),
            vi.spyOn(Set.prototype, "has"),
            vi.spyOn(Set.prototype, "add"),
          ];
          touches(path);
          const steps = looks.reduce((sum, each) => sum + each.mock.calls.length, 0);
          vi.restoreAllMocks();
          expect(steps).toBeLessThan(16_000);
        },
      ),
      { numRuns: 200 },
    ));
});

/** Requests that some server reads as the denied place, and ones that none does. */
const denials: readonly (readonly [deny: string, met: readonly string[], notMet: readonly string[]])[] = [
  [
    "/admin",
    [
      "/index.php/admin",
      "/index.php/admin/users",
      "/app/index.php/../admin",
      "/api.jsp/admin",
      "/admin.json",
      "/admin.html",
      "/admin.tar.gz",
      "/admin;x=1",
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
    ["/admin", "/admin/users", "/public/admin", "/index.php/admin", "/public/index.php/admin", "/ADMIN.json"],
    ["/public/users", "/administrator", "/docs/admin", "/public/index.php/users"],
  ],
  [
    "/users",
    [
      "/users.1",
      "/users.abcdefghijkl",
      "/(S(abc))/users",
      "/(F(x))/(S(y))/users",
      "/(S(x)F(y))/users",
      "/us/(S(x))ers",
      "/us%2f(S(x))ers",
      "/users!go",
      "/users!go.action",
      "/users(1)",
      "/app.wsgi/users",
      "/index.html/users",
      ..."do rb exe dll php56 shtml svc asmx".split(" ").map((each) => `/x.${each}/users`),
      "/a.b/c.d/../../users",
      "/a.b/x/../users/1",
      "/a/b.c/users/..%2fusers",
      "/users%C2%85",
      "/users%C2%80",
      "/users%C2%9F",
      ..."C2%A0 E1%9A%80 E2%80%80 E2%80%8A E2%80%8B E2%80%A8 E2%80%A9 E2%80%AF E2%81%9F E3%80%80 EF%BB%BF E2%A0%80"
        .split(" ")
        .flatMap((each) => [`/users%${each}`, `/%${each}users/1`]),
      "/a.b/c.b/d.b/e.b/f.b/g.b/h.b/i.b/j.b/k.b",
    ],
    [
      "/usersx",
      "/usersx.html",
      "/a/users",
      "/v/users.html",
      "/users-guide(1)",
      "/x!users",
      "/(a)",
      "/users~",
      "/a.b/c.d/e.f",
    ],
  ],
  [
    "/admin/delete",
    ["/admin.php/delete", "/admin/x.php/delete", "/admin/delete.do", "/x.y/admin.z/delete!go"],
    ["/admin.php/list", "/admin/x/delete", "/admin", "/delete"],
  ],
  [
    "/secret.html",
    ["/secret", "/secret/", "/secret.html", "/secret.html.gz", "/secret!go.html", "/x.cgi/secret"],
    ["/secrets", "/secret.pdf", "/secretly.html", "/a/secret"],
  ],
  ["/admin.php/delete", ["/admin/delete", "/admin.php/delete/1"], ["/admin/list", "/admin.php"]],
  ["/backup.tar.gz", ["/backup.tar", "/backup"], ["/back", "/backup.zip"]],
  [
    "/docs/index.html",
    ["/docs/", "/docs", "/docs/index", "/x.php/docs/"],
    ["/docs/a.html", "/docs/a", "/docs/a.b/c", "/", "/docs.x/y"],
  ],
  ["/index.html", ["/", "/index", "/index.html"], ["/style.css", "/docs/", "/docs/style.css"]],
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
    ["/ADMINI~1", "/ADMINI~2/users", "/ADMIN~10", "/AD12EF~1", "/ADMINI~1.X", "/x.php/ADMINI~1"],
    ["/ADMINX~1", "/A~1", "/~admin", "/BD12EF~1", "/docs/ADMINI~1", "/admini~"],
  ],
  ["/my files/annual.report.html", ["/MYFILE~1/ANNUAL~1.HTM"], ["/MYFILM~1/x"]],
];

describe.each(denials)("a deny of %s", (deny, met, notMet) => {
  const touches = pathToucher([deny]);

  it("meets what some server takes for it", () => expect(met.filter((each) => !touches(each))).toEqual([]));

  it("spares the rest", () => expect(notMet.filter((each) => touches(each))).toEqual([]));
});

describe("a grant of /pub", () => {
  const covers = pathGranter(["/pub"]);
  const spaces = "C2%A0 E1%9A%80 E2%80%80 E2%80%8B E2%80%A8 E2%80%A9 E2%80%AF E2%81%9F E3%80%80 EF%BB%BF E2%A0%80";

  it.each(["C2%80", "C2%85", "C2%9F", ...spaces.split(" ")])("covers no step up that ends in %j", (sign) => {
    for (const path of [`/pub/..%${sign}/x`, `/pub/%${sign}../x`, `/pub/%${sign}..%${sign}/x`])
      expect(covers(path)).toBe(false);
  });

  it("covers what needs no reading, whatever its suffixes", () => {
    for (const path of [
      "/pub/a.b/c.tar.gz",
      "/pub/users(1)",
      "/pub/(S(x))/y",
      "/pub/x!y",
      "/pub/LONGNA~1",
      "/pub/v1.2",
    ])
      expect(covers(path)).toBe(true);
  });
});
