import { createKernel, policy as policyOf, type PolicyDocument } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import httpFetch from "../../packages/worker-host/src/tools/http-fetch.ts";

type Part = Omit<Partial<PolicyDocument>, "grants"> & {
  readonly hosts?: readonly string[];
  readonly paths?: readonly string[];
};

/** What goes out when a tool under a policy asks for a URL, and what the tool is told. */
async function ask(
  url: string,
  { hosts = ["example.com"], paths, ...rest }: Part,
  headers: Record<string, string> = {},
) {
  const sent: string[] = [];
  const kernel = await createKernel({
    policy: {
      version: "1",
      posture: "standard",
      ...rest,
      grants: [{ tool: "http_fetch", capability: { kind: "net.read", hosts, ...(paths && { paths }) } }],
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
  const result = await kernel.call("http_fetch", { url, headers });
  return result.ok ? { sent, code: "ok", hint: "" } : { sent, code: result.error.code, hint: result.error.hint };
}

const deny = (when: object): Pick<PolicyDocument, "rules"> => ({
  rules: [{ id: "no", effect: "deny", when, reason: "Not there." }],
});
const refused = { sent: [], code: "CAPABILITY_DENIED", hint: expect.any(String) };

const spellings = [
  "/docs/internal",
  "/docs/internal/",
  "/docs/internal/salaries",
  "/docs/%69nternal/salaries",
  "/docs/%2569nternal/salaries",
  "/docs/%%36%39nternal/salaries",
  "/docs/%u0069nternal/salaries",
  "/docs//internal/salaries",
  "//docs/internal/salaries",
  "/docs/internal;v=1",
  "/docs/internal;v=1/salaries",
  "/docs/;a/internal",
  "/docs/;a%2fb/internal",
  "/docs/internal%3bv=1/salaries",
  "/docs/internal.",
  "/docs/internal./salaries",
  "/docs/internal%20/salaries",
  "/docs/internal%20.%20/salaries",
  "/docs/%20internal/salaries",
  "/docs/internal:$DATA",
  "/docs/internal%3a%3a$INDEX_ALLOCATION/salaries",
  "/docs/INTERNAL/salaries",
  "/Docs/Internal",
  "/docs/\u0131nternal/salaries",
  "/docs/\uff49nternal/salaries",
  "/docs/in\u200bternal/salaries",
  "/docs/inter\u00adnal/salaries",
  "/docs%2finternal/salaries",
  "/docs/internal%2fsalaries",
  "/docs%5cinternal%5csalaries",
  "/docs/a%2f..%2finternal/salaries",
  "/docs/a/%252e%252e/internal/salaries",
  "/docs/internal/%252e%252e/x",
  "/docs/internal%3fa",
  "/docs/internal%23a",
  "/docs/internal%c0%af",
  "/docs/%c1%a9nternal",
  "/docs/%2525252569nternal",
  "/docs/%252500internal",
];

describe("a deny of a path", () => {
  it.each(spellings)("holds for %s", async (path) => {
    expect(await ask(`https://example.com${path}`, deny({ path: ["/docs/internal"] }))).toEqual(refused);
  });
  it.each([
    "/docs",
    "/docs/internals",
    "/docs/interna",
    "/docs/public;v=1/a%20b",
    "/docs/C%23/a%2fb",
    "/internal",
    "/docs/100%25",
    "/docs/caf%C3%A9",
  ])("leaves %s alone", async (path) => {
    expect((await ask(`https://example.com${path}`, deny({ path: ["/docs/internal"] }))).code).toBe("ok");
  });
  it("holds in the spelling of its author, too", async () => {
    for (const path of ["/Docs/Caf%C3%A9/", "/docs/caf\u00e9", "/docs/cafe\u0301"])
      expect(await ask("https://example.com/docs/CAF%C3%89/menu", deny({ path: [path] })), path).toEqual(refused);
  });
});

describe("the refusal of a path that is not plain", () => {
  it.each<[string, Part]>([
    ["by a deny", deny({ path: ["/docs/internal"] })],
    ["by a grant", { paths: ["/docs/public"] }],
  ])("%s tells the model the plain spelling", async (_, policy) => {
    const { hint } = await ask("https://example.com/docs/%2569nternal", policy);
    expect(hint).toContain('"/docs/internal"');
    expect((await ask("https://example.com/docs/internal", policy)).hint).not.toContain("plain");
  });
});

describe("a grant of a path", () => {
  it.each([
    "/docs/..%%32%66admin",
    "/docs/..%25%32%66admin",
    "/docs/.%%32%65/admin",
    "/docs/%%32%65%%32%65/admin",
    "/docs/..%u002fadmin",
    "/docs/..%c0%afadmin",
    "/docs/..%e0%80%afadmin",
    "/docs/..%20/admin",
    "/docs/..%20./admin",
    "/docs/..;a=b/admin",
    "/docs/..:a/admin",
    "/docs/..%3fa/admin",
    "/docs/..%23/admin",
    "/docs/..%ef%bc%8fadmin",
    "/docs/%e2%80%a5/admin",
    "/docs/..%e2%80%8b/admin",
    "/docs/a%2f..%2f..%2fadmin",
    "/docs/a/%252e%252e/%252e%252e/admin",
    "/docs/%2500",
    "/docs/%ff",
    "/docs/%25252525252525252e%25252525252525252e/x",
    "/Docs/a",
    "/docsa",
    "//docs/a",
  ])("does not cover %s", async (path) => {
    expect(await ask(`https://example.com${path}`, { paths: ["/docs"] })).toEqual(refused);
  });
  it.each([
    "/docs",
    `/docs/${"a".repeat(3_000)}`,
    "/docs/A/b;v=1/c",
    "/docs/C%23/x",
    "/docs/100%25",
    "/docs/a%20b/caf%C3%A9",
    "/docs/x:cancel",
    "/docs/a%3Fb",
    "/docs/...",
    "/docs//a",
    "/docs/a.b/c.",
    "/docs/%E6%97%A5%E6%9C%AC",
  ])("covers %s", async (path) => {
    expect((await ask(`https://example.com${path}`, { paths: ["/docs"] })).code).toBe("ok");
  });
});

const ownHosts = [
  "localhost",
  "127.0.0.1",
  "[::1]",
  "10.0.0.5",
  "metadata.google.internal",
  "kubernetes.default.svc",
  "router",
];

describe("a deny of every host", () => {
  describe.each<[string, Part]>([
    ["in a rule about requests", deny({ host: ["*"] })],
    ["in a rule about arguments", deny({ tool: ["http_fetch"], arguments: [{ at: "/url", hostIn: ["*"] }] })],
    ["in what the tool may not reach", { tools: { http_fetch: { hosts: { forbidden: ["*"] } } } }],
  ])("%s", (_, part) => {
    it.each(ownHosts)("stops %s, though it is granted by its name", async (host) => {
      const { sent } = await ask(`http://${host}/`, { ...part, hosts: [host] });
      expect(sent).toEqual([]);
      expect((await ask(`http://${host}/`, { hosts: [host] })).code).toBe("ok");
    });
  });
  it("below a name stops names of one's own network", async () => {
    const host = "metadata.google.internal";
    expect(await ask(`http://${host}/`, { ...deny({ host: ["*.internal"] }), hosts: [host] })).toEqual(refused);
    expect((await ask("http://internal/", { ...deny({ host: ["*.internal"] }), hosts: ["internal"] })).code).toBe("ok");
  });
});

describe("what is read as a permission", () => {
  const unless = (argument: object): Part => deny({ tool: ["http_fetch"], arguments: [argument] });
  it.each(ownHosts)("a wildcard among the allowed hosts is not %s", async (host) => {
    const part = { hosts: [host], tools: { http_fetch: { hosts: { allowed: ["*"] } } } };
    expect(await ask(`http://${host}/`, part)).toEqual(refused);
  });
  it("a wildcard of `hostNotIn` in a deny spares public names alone", async () => {
    const part = unless({ at: "/url", hostNotIn: ["*"] });
    expect((await ask("https://example.com/", part)).code).toBe("ok");
    for (const host of ["localhost", "127.0.0.1", "metadata.google.internal"])
      expect((await ask(`http://${host}/`, { ...part, hosts: [host] })).sent, host).toEqual([]);
  });
});

describe("a wildcard in a grant", () => {
  it.each([
    "kubernetes.default.svc",
    "api.prod.cluster",
    "a.lxd",
    "web.dns.podman",
    "web.service.nomad",
    "api.k8s",
    "nas.tail1234.ts.net",
    "127.0.0.1.nip.io",
    "10-0-0-1.unknown-rebinding-zone.com",
    "169.254.169.254.unknown-rebinding-zone.com",
    "app.lndo.site",
    "7f000001.c0a80001.rbndr.us",
    "account.privatelink.blob.example.com",
    "a.zz",
  ])("does not reach %s", async (host) => {
    expect(await ask(`https://${host}/`, { hosts: ["*", `*.${host.split(".").slice(1).join(".")}`] })).toEqual(refused);
  });
  it.each([
    "example.com",
    "a.co.uk",
    "xn--80ak6aa92e.xn--p1ai",
    "ec2-52-95-245-1.compute-1.amazonaws.com",
    "v1.2.3.4567.example.com",
  ])("reaches %s", async (host) => {
    expect((await ask(`https://${host}/`, { hosts: ["*"] })).code).toBe("ok");
  });
});

describe("a pattern of other tools", () => {
  const grant = (capability: object): unknown => ({
    version: "1",
    posture: "strict",
    grants: [{ tool: "*", capability }],
  });
  const rule = (when: object): unknown => ({ version: "1", posture: "strict", ...deny(when) });
  it.each([
    "notes/{a,b}",
    "notes/?.md",
    "!notes/**",
    "**/*.@(pem|key)",
    "**/+(a|b)",
    "secrets/!(public)",
    "secrets/?(public)",
    "~/.ssh/**",
    "$HOME/.ssh/**",
  ])("%s is refused in a document", (glob) => {
    for (const document of [
      grant({ kind: "fs.read", paths: [glob] }),
      grant({ kind: "fs.read", paths: ["**"], except: [glob] }),
      grant({ kind: "kv.read", keys: [glob] }),
      grant({ kind: "net.read", hosts: ["example.com"], paths: [`/${glob}*`] }),
      grant({ kind: "process.spawn", commands: [{ command: "cat", args: [{ path: [glob] }] }] }),
      rule({ path: [glob] }),
      rule({ path: [`/${glob}*`] }),
      rule({ key: [glob] }),
      rule({ calls: [glob] }),
      rule({ arguments: [{ at: "/path", pathIn: [glob] }] }),
      { version: "1", posture: "strict", tools: { a: { paths: { forbidden: [glob] } } } },
    ])
      expect(policyOf(document), JSON.stringify(document)).toMatchObject({
        ok: false,
        error: { code: "INVALID_POLICY" },
      });
  });
  it.each(["{a,b}.example.com", "[a-z].example.com", "?.example.com", "!example.com", "a*.example.com"])(
    "%s is refused for a host",
    (host) => {
      for (const document of [grant({ kind: "net.read", hosts: [host] }), rule({ host: [host] })])
        expect(policyOf(document)).toMatchObject({ ok: false, error: { code: "INVALID_POLICY" } });
    },
  );
  it("is refused with what is supported instead", () => {
    const loaded = policyOf(rule({ path: ["notes/{a,b}"] }));
    expect(loaded.ok ? "" : loaded.error.hint).toContain("**");
  });
});
