import { blake3Hash, createKernel, type JsonObject, packageHash } from "@keyhole/kernel";
import { httpHost, httpPackage } from "@keyhole/worker-host/http";
import { describe, expect, it } from "vitest";
import { json, openHttpKernel, requestTool } from "./support.ts";

const input = (properties: JsonObject, required: readonly string[] = Object.keys(properties)): object => ({
  input: { type: "object", properties, required },
});
const text = { type: "string" } as const;

async function refusal(tool: ReturnType<typeof requestTool>): Promise<{ path: string; message: string }> {
  const kernel = await createKernel({ host: httpHost() });
  const registered = kernel.register(tool);
  await kernel.close();
  return registered.ok ? { path: "", message: "registered" } : registered.error;
}

describe("a template that could lead elsewhere is refused when it is registered", () => {
  it.each([
    ["a host that is a free variable", "https://{id}/a", {}, "host depends on `id`"],
    ["a part of a host that is free", "https://api.{id}.example.com/a", {}, "host depends on `id`"],
    ["a host with the reserved operator", "https://{+id}/a", {}, "operator + could change the authority"],
    ["a host with a suffix", "https://example.com{.id}/", {}, "operator . could change the authority"],
    [
      "an enum of hosts with a path in it",
      "https://{h}/a",
      input({ h: { enum: ["a.example/b"] } }),
      "host depends on `h`",
    ],
    ["an enum of hosts with a port", "https://{h}/a", input({ h: { enum: ["a.example:99"] } }), "host depends on `h`"],
    ["an enum with a number", "https://{h}/a", input({ h: { enum: [1] } }), "host depends on `h`"],
    ["an optional part of a host", "https://{h}.example.com/", input({ h: { enum: ["a"] } }, []), "require it"],
    ["credentials in the URL", "https://user:pass@example.com/{id}", {}, "cannot stand there"],
    ["a name before the host", "https://{id}@example.com/", {}, "cannot stand there"],
    ["another scheme", "ftp://example.com/{id}", {}, "begins with neither"],
    ["a variable scheme", "{id}://example.com/", {}, "begins with neither"],
    ["no scheme", "//example.com/{id}", {}, "begins with neither"],
    ["a fragment", "https://example.com/{id}#part", {}, "fragment"],
    ["a fragment of a variable", "https://example.com/{#id}", {}, "operator # could change the path"],
    ["a query that a value could end", "https://example.com/?a={+id}", {}, "operator + could change the query"],
    ["a step up", "https://example.com/a/../{id}", {}, "`..`"],
    ["an encoded step up", "https://example.com/a/%2e%2e/{id}", {}, "`..`"],
    ["a backslash", "https://example.com/a\\{id}", {}, "cannot stand there"],
    ["a space", "https://example.com/a b/{id}", {}, "cannot stand there"],
    ["a line break", "https://example.com/\n{id}", {}, "cannot stand there"],
    ["a modifier of level 4", "https://example.com/{id:3}", {}, "level 4"],
    ["a variable that the input lacks", "https://example.com/{nobody}", {}, "no property `nobody`"],
    ["an optional variable of the path", "https://example.com/{other}", {}, "require it"],
    ["a secret in the path", "https://example.com/{secret.key}", {}, "does not"],
    ["a secret in the host", "https://{secret.key}.example.com/", {}, "does not"],
    ["a secret under the name of its variable", "https://example.com/{?secret.key}", {}, "does not"],
    ["a second query", "https://example.com/?a=1{?id}", {}, "write {&…}"],
    ["a port that is none", "https://example.com:99999/{id}", {}, "is not a host"],
  ] as const)("%s", async (_, url, more, message) => {
    expect(await refusal(requestTool({ url }, more))).toMatchObject({
      path: "/http/url",
      message: expect.stringContaining(message) as string,
    });
  });

  it.each([
    ["/http/headers/host", { headers: { host: "internal" } }, "no tool sets this header"],
    ["/http/headers/Content-Length", { headers: { "Content-Length": "1" } }, "no tool sets this header"],
    ["/http/headers/x-forwarded-for", { headers: { "x-forwarded-for": "{id}" } }, "no tool sets this header"],
    ["/http/headers/a b", { headers: { "a b": "x" } }, "a header's name"],
    ["/http/headers/x-a", { headers: { "x-a": "a\r\nx-b: c" } }, "printable ASCII"],
    ["/http/headers/x-a", { headers: { "x-a": "{id" } }, "printable ASCII"],
    ["/http/headers/x-a", { headers: { "x-a": "{nobody}" } }, "no property"],
    ["/http/headers/x-a", { headers: { "x-a": "1", "X-A": "2" } }, "twice"],
    ["/http/headers/x-a", { headers: { "x-a": "{secret.a b}" } }, "name of a secret"],
    ["/http/body", { body: { json: {} } }, "has no body"],
    ["/http/body/json/a", { method: "POST", body: { json: { a: { $from: "input#/nobody" } } } }, "no property"],
    ["/http/body/json/a", { method: "POST", body: { json: { a: { $from: "body#/x" } } } }, "no source"],
    ["/http/body/json", { method: "POST", body: { json: { $from: "secret#" } } }, "secret#/NAME"],
    ["/http/body/json", { method: "POST", body: { json: { $from: "input" } } }, "not a reference"],
    ["/http/responses/200/output", { responses: { "200": { output: { $from: "secret#/key" } } } }, "no source"],
    ["/http/responses/abc", { responses: { abc: {} } }, ""],
    ["/http/responses/404/error/code", { responses: { "404": { error: { code: "not found" } } } }, ""],
    ["/http/method", { method: "TRACE" }, ""],
  ] as const)("%s of %j", async (path, more, message) => {
    const tool = requestTool({ url: "https://example.com/{id}", ...(more as object) });
    const refused = await refusal(tool);
    expect(refused.message).not.toBe("registered");
    expect(refused.message).toContain(message);
    expect(refused.path === path || message === "").toBe(true);
  });
});

describe("a tool that is a request", () => {
  const url = "https://{region}.example.com/v1/users/{id}?key={secret.key}";
  const inputs = input({ region: { enum: ["eu", "us"] }, id: text });
  const tool = requestTool({ url, headers: { "x-team": "{id}" } }, inputs);

  it("declares what its template reaches", () => {
    const hosts = ["eu.example.com", "us.example.com"];
    expect(tool.manifest).toMatchObject({ effects: ["net.read"], tier: 1, idempotent: true, determinism: "external" });
    expect(tool.manifest.capabilities).toEqual([
      { kind: "net.read", hosts, ports: [443], methods: ["GET"], paths: ["/v1/users"], headers: ["x-team"] },
      { kind: "secret.use", names: ["key"], hosts },
    ]);
  });

  it("is refused where it declares less", async () => {
    const capabilities = [{ kind: "net.read", hosts: ["eu.example.com"] }] as const;
    expect(await refusal(requestTool({ url }, { ...inputs, capabilities }))).toMatchObject({
      path: "/capabilities",
    });
  });

  it("has a digest that covers the template", async () => {
    const other = requestTool({ url: url.replace("v1", "v2") }, inputs);
    expect(other.hash).not.toBe(tool.hash);
    expect(await refusal({ ...other, hash: tool.hash })).toMatchObject({ code: "PACKAGE_HASH_MISMATCH" });
    expect(packageHash(tool.manifest, null, blake3Hash)).toBe(tool.hash);
  });

  it("has no code", async () => {
    expect(await refusal({ ...tool, code: "export default 1" })).toMatchObject({ path: "/code" });
  });

  it("has its template, and no other tool has one", async () => {
    const { http: _, ...without } = tool.manifest;
    for (const manifest of [without, { ...tool.manifest, source: "module" as const }])
      expect(await refusal({ manifest, code: "", hash: packageHash(manifest, null, blake3Hash)! })).toMatchObject({
        path: "/http",
      });
  });

  it("is refused on a kernel whose host makes no requests", async () => {
    const kernel = await createKernel();
    expect(kernel.register(tool)).toMatchObject({ ok: true });
    expect(await kernel.call("subject", { region: "eu", id: "1" })).toMatchObject({
      error: { code: "UNSUPPORTED_HOST" },
    });
    await kernel.close();
  });

  it("is denied without a grant for its host, and sends nothing", async () => {
    const sent: string[] = [];
    const send = (request: Request): Response => (sent.push(request.url), json({}));
    const policy = {
      version: "1",
      posture: "permissive",
      grants: [{ tool: "subject", capability: { kind: "net.read", hosts: ["us.example.com"] } }],
    } as const;
    const plain = requestTool({ url: "https://eu.example.com/{id}" });
    const kernel = await openHttpKernel([plain], send, { policy });
    expect(await kernel.call("subject", { id: "1" })).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
    expect(sent).toEqual([]);
    await kernel.close();
  });

  it("has types", () => {
    const typed = httpPackage({
      name: "typed",
      version: "1.0.0",
      description: "Has types.",
      http: { url: "https://example.com/{id}" },
      input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      output: { kind: "json", schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
    });
    const use = async (kernel: Awaited<ReturnType<typeof createKernel>>): Promise<number | undefined> => {
      const result = await kernel.call(typed, { id: "1" });
      return result.ok ? result.data.n : undefined;
    };
    expect(use).toBeTypeOf("function");
  });
});
