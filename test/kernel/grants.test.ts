import type { Capability, Need } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { attenuate, covers, files, grantOf, net } from "../support/grants.ts";

const wish: readonly Capability[] = [
  net({ hosts: ["*"] }),
  { kind: "net.write", hosts: ["*"] },
  files({ paths: ["**"] }),
  { kind: "fs.write", paths: ["**"] },
];
const get = (more: object = {}): Need => ({
  kind: "net.read",
  method: "GET",
  host: "example.com",
  isPublic: true,
  port: 443,
  path: "/",
  ...more,
});
const read = (path: string, bytes?: number): Need => ({ kind: "fs.read", path, ...(bytes !== undefined && { bytes }) });

describe("a grant", () => {
  it.each<[string, Capability[], Need, boolean]>([
    ["an exact host", [net()], get(), true],
    ["another host", [net()], get({ host: "example.org" }), false],
    ["a host below", [net()], get({ host: "www.example.com" }), false],
    ["a suffix pattern", [net({ hosts: ["*.example.com"] })], get({ host: "www.example.com" }), true],
    ["a suffix pattern, the domain itself", [net({ hosts: ["*.example.com"] })], get(), false],
    ["a suffix without dot", [net({ hosts: ["*.example.com"] })], get({ host: "evilexample.com" }), false],
    ["the default ports", [net()], get({ port: 80 }), true],
    ["another port", [net()], get({ port: 8443 }), false],
    ["a listed port", [net({ ports: [8443] })], get({ port: 8443 }), true],
    ["listed ports replace the default", [net({ ports: [8443] })], get(), false],
    ["HEAD is reading", [net()], get({ method: "HEAD" }), true],
    ["POST is not reading", [net()], get({ method: "POST" }), false],
    ["a path below a prefix", [net({ paths: ["/api"] })], get({ path: "/api/x" }), true],
    ["the prefix itself", [net({ paths: ["/api"] })], get({ path: "/api" }), true],
    ["a path that only begins alike", [net({ paths: ["/api"] })], get({ path: "/apix" }), false],
    ["an encoded slash under a prefix", [net({ paths: ["/api"] })], get({ path: "/api/%2e%2e/x" }), false],
    ["any public host", [net({ hosts: ["*"] })], get(), true],
    ["any public host is not the loopback", [net({ hosts: ["*"] })], get({ host: "127.0.0.1" }), false],
    ["the loopback by name", [net({ hosts: ["127.0.0.1"] })], get({ host: "127.0.0.1" }), true],
    ["a file under a glob", [files()], read("docs/a/b.md"), true],
    ["a file elsewhere", [files()], read("src/a.ts"), false],
    ["an excepted file", [files({ except: ["docs/secret/**"] })], read("docs/secret/a"), false],
    ["a file at the size", [files({ fileBytes: 10 })], read("docs/a", 10), true],
    ["a file one byte over", [files({ fileBytes: 10 })], read("docs/a", 11), false],
    ["writing is not reading", [files()], { kind: "fs.write", path: "docs/a" }, false],
    ["no grant", [], get(), false],
    ["the clock", [{ kind: "clock" }], { kind: "clock" }, false],
  ])("%s", (_, layer, need, expected) => {
    expect(covers(grantOf(wish, [layer]), need)).toBe(expected);
  });

  it("without a layer of authority covers nothing", () => {
    expect(covers(grantOf(wish, []), get())).toBe(false);
  });

  const hosts = fc.subarray(["example.com", "*.example.com", "*", "127.0.0.1", "a.example.com"], { minLength: 1 });
  const globs = fc.subarray(["**", "docs/**", "docs/*", "docs/a", "src/**"], { minLength: 1 });
  const capability = fc.oneof(
    fc.record({
      kind: fc.constantFrom("net.read" as const, "net.write" as const),
      hosts,
      ports: fc.subarray([80, 443, 8080], { minLength: 1 }),
      paths: fc.subarray(["/", "/api", "/api/v1"], { minLength: 1 }),
    }),
    fc.record({
      kind: fc.constantFrom("fs.read" as const, "fs.write" as const),
      paths: globs,
      except: fc.subarray(["docs/a", "src/**"]),
      fileBytes: fc.nat(20),
    }),
  );
  const need: fc.Arbitrary<Need> = fc.oneof(
    fc.record({
      kind: fc.constantFrom("net.read" as const, "net.write" as const),
      method: fc.constantFrom("GET", "POST"),
      host: fc.constantFrom("example.com", "a.example.com", "127.0.0.1", "other.org"),
      port: fc.constantFrom(80, 443, 8080),
      path: fc.constantFrom("/", "/api", "/api/v1/x", "/other"),
    }),
    fc.record({
      kind: fc.constantFrom("fs.read" as const, "fs.write" as const),
      path: fc.constantFrom("docs/a", "docs/b/c", "src/x", "other"),
      bytes: fc.nat(25),
    }),
  );

  it("attenuated covers nothing that its parent does not", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(capability, { maxLength: 3 }), { minLength: 1, maxLength: 4 }),
        need,
        (layers, asked) => {
          let grant = grantOf(wish, [layers[0]!]);
          for (const layer of layers.slice(1)) {
            const child = attenuate(grant, layer);
            expect(covers(child, asked) && !covers(grant, asked)).toBe(false);
            grant = child;
          }
        },
      ),
      { numRuns: sized(250, 2_000) },
    );
  });
});
