import type { JsonObject } from "@keyhole/kernel";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { json, openHttpKernel, requestTool } from "./support.ts";

const text = { type: "string" } as const;
const properties = { id: text, other: text, list: { type: "array" } };
const input = { input: { type: "object", properties, required: ["id"] } } as object;

let sent: Request[] = [];
afterEach(() => {
  sent = [];
});
const send = (request: Request): Response => (sent.push(request), json({}));

async function call(
  http: Parameters<typeof requestTool>[0],
  values: JsonObject,
): Promise<{ error?: { code: string } }> {
  const kernel = await openHttpKernel([requestTool(http, input)], send);
  const result = await kernel.call("subject", values);
  await kernel.close();
  return result.ok ? {} : { error: { code: result.error.code } };
}

const segment = { url: "https://example.com/a/{id}/z" };
const inner = { url: "https://example.com/a/{+id}/z" };
const whole = { url: "https://example.com/{id}/z" };
const query = { url: "https://example.com/a?q={id}{&other,list}" };
const header = { url: "https://example.com/", headers: { "x-id": "v={id}" } };

describe("a value that could change the request is refused, and nothing is sent", () => {
  it.each([
    ["a step up", segment, ".."],
    ["a step to itself", segment, "."],
    ["an encoded step up", segment, "%2e%2e"],
    ["a step up behind a slash", segment, "../../admin"],
    ["a step up behind an encoded slash", segment, "..%2F..%2Fadmin"],
    ["a step up behind a backslash", segment, "..\\..\\admin"],
    ["a step up, encoded three times", segment, "%25252e%25252e"],
    ["a step up with parameters", segment, "..;a=b"],
    ["a step up that Windows reads", segment, ".. "],
    ["an empty segment", segment, ""],
    ["a line break", segment, "a\r\nHost: internal"],
    ["a NUL", segment, "a\0b"],
    ["a lone surrogate", segment, "\ud800"],
    ["a step up in wide dots", whole, "\uff0e\uff0e"],
    ["a step up in one character", whole, "\u2025"],
    ["a step up before a wide space", whole, "..\u3000"],
    ["a slash below no literal step", whole, "admin/users"],
    ["an encoded slash below no literal step", whole, "admin%252Fusers"],
    ["a backslash below no literal step", whole, "admin\\users"],
    ["a wide slash below no literal step", whole, "admin\uff0fusers"],
    ["a slash in a list below no literal step", { url: "https://example.com{/id,list}" }, "a", { list: ["b/c"] }],
    ["a path with a step up", inner, "b/../../../admin"],
    ["a path with a query", inner, "b?admin=1"],
    ["a path with a fragment", inner, "b#"],
    ["a path with an encoded step up", inner, "b/%2e%2e/c"],
    ["a path with an empty segment", inner, "b//c"],
    ["a path that begins with a slash", inner, "/etc"],
    ["a path with a backslash", inner, "b\\..\\c"],
    ["a header with a line break", header, "a\r\nx-admin: 1"],
    ["a header with a NUL", header, "a\0"],
    ["another part of a header", header, "a; admin=1"],
    ["another item of a header", header, "a, admin=1"],
    ["the end of a quoted text in a header", header, 'a"'],
    ["a header beyond Latin-1", header, "€"],
    ["a header with an escape of a terminal", header, "\u001b[2J"],
    ["a list of objects", query, "a", { list: [{}] }],
    ["a list with a lone surrogate", query, "a", { list: ["\udc00"] }],
    ["a URL without an end", query, "a".repeat(9_000)],
  ] as const)("%s", async (_, http, id, more: JsonObject = {}) => {
    expect(await call(http, { id, ...more })).toEqual({ error: { code: "INVALID_INPUT" } });
    expect(sent).toEqual([]);
  });
});

describe("a value without a text is refused where the path needs one, and nothing is sent", () => {
  const loose = { input: { type: "object", properties: { id: {} }, required: ["id"] } } as object;
  it.each([
    ["null", segment, null],
    ["an empty list", segment, []],
    ["null in a path", inner, null],
    ["an empty list in a path", inner, []],
    ["a list with an empty text", segment, ["a", ""]],
  ] as const)("%s", async (_, http, id) => {
    const kernel = await openHttpKernel([requestTool(http, loose)], send);
    expect(await kernel.call("subject", { id })).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    await kernel.close();
    expect(sent).toEqual([]);
  });
});

describe("a value stays a value", () => {
  it.each([
    ["example.org", "/a/example.org/z"],
    ["@example.org", "/a/%40example.org/z"],
    ["a?b=c#d", "/a/a%3Fb%3Dc%23d/z"],
    ["...a", "/a/...a/z"],
    ["{other}", "/a/%7Bother%7D/z"],
    ["__proto__", "/a/__proto__/z"],
    ["größe", "/a/gr%C3%B6%C3%9Fe/z"],
  ])("%j in the path", async (id, path) => {
    // A host without a path in the grant: what a prefix grants has to be read in one way.
    const capabilities = [{ kind: "net.read", hosts: ["example.com"] }];
    const kernel = await openHttpKernel([requestTool(segment, { ...input, capabilities } as object)], send);
    expect(await kernel.call("subject", { id })).toMatchObject({ ok: true });
    expect(sent.map(({ url }) => url)).toEqual([`https://example.com${path}`]);
    await kernel.close();
  });

  it.each(["a&admin=1", "a#b", "a?b", "a\r\nb", "a=b;c", "%00", "../.."])("%j in the query", async (id) => {
    await call(query, { id, other: id, list: [id, id] });
    const { pathname, searchParams, hash } = new URL(sent[0]!.url);
    expect([pathname, hash]).toEqual(["/a", ""]);
    expect([...searchParams]).toEqual([
      ["q", id],
      ["other", id],
      ["list", `${id},${id}`],
    ]);
  });

  it.each(["b/c", "//example.org/", "a%2Fb", "a%252fb", "a\\b"])(
    "%j has more than one step, and is refused",
    async (id) => {
      expect(await call(segment, { id })).toEqual({ error: { code: "INVALID_INPUT" } });
      expect(sent).toEqual([]);
    },
  );

  it("is no property of an object's prototype", async () => {
    const named = { type: "object", properties: { id: text, constructor: text, toString: text } };
    const http = { url: "https://example.com/{id}{?constructor}", headers: { "x-a": "{toString}" } };
    const kernel = await openHttpKernel([requestTool(http, { input: { ...named, required: ["id"] } })], send);
    expect(await kernel.call("subject", { id: "a" })).toMatchObject({ ok: true });
    expect(sent.map(({ url, headers }) => [url, headers.get("x-a")])).toEqual([["https://example.com/a", null]]);
    await kernel.close();
  });
});

it("whatever the values are, host, path and headers are those of the template", async () => {
  const http = {
    url: "https://example.com/a/{id}/z{;other}?q={id}{&list}",
    headers: { "x-id": "v={id}" },
  };
  const capabilities = [{ kind: "net.read", hosts: ["example.com"], headers: ["x-id"] }];
  const kernel = await openHttpKernel([requestTool(http, { ...input, capabilities } as object)], send);
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({
      unit: fc.constantFrom("/", "\\", ".", "%", "2", "e", "f", "5", "c", "@", ":", "?", "#", ";", "\n", "a"),
    }),
  );
  await fc.assert(
    fc.asyncProperty(hostile, hostile, fc.array(hostile, { maxLength: 3 }), async (id, other, list) => {
      sent = [];
      const result = await kernel.call("subject", { id, other, list });
      if (!result.ok) {
        expect(["INVALID_INPUT", "CAPABILITY_DENIED", "TOOL_ERROR"]).toContain(result.error.code);
        expect(sent).toEqual([]);
        return;
      }
      const { host, pathname, search, hash } = new URL(sent[0]!.url);
      expect(host).toBe("example.com");
      expect(pathname).toMatch(/^\/a\/[^/]+\/z(?:;other(?:=[^/]*)?)?$/);
      expect(search.startsWith("?q=")).toBe(true);
      expect([...new URLSearchParams(search).keys()]).toEqual(list.length > 0 ? ["q", "list"] : ["q"]);
      expect(hash).toBe("");
      expect([...sent[0]!.headers.keys()]).toEqual(["x-id"]);
    }),
    { numRuns: sized(300, 20_000) },
  );
  await kernel.close();
});
