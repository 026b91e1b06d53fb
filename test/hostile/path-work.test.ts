import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { PathTree } from "../../packages/kernel/src/capability/path-tree.ts";
import { checkPathPrefix, pathGranter, pathToucher } from "../../packages/kernel/src/capability/readings.ts";

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

describe("a deny of /admin", () => {
  const touches = pathToucher(["/admin"]);

  it.each([
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
  ])("meets %s", (path) => expect(touches(path)).toBe(true));

  it.each(["/administrator", "/docs/admin.json", "/index.html", "/index.php/docs", "/a.b/admin-guide"])(
    "does not meet %s",
    (path) => expect(touches(path)).toBe(false),
  );
});
