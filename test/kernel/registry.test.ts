import { blake3Hash, checkPackage, checkTrustedTool, manifestOf, packageHash } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { compareVersions, parseRange, parseVersion } from "../../packages/kernel/src/support/semver.ts";
import { echo, openKernel, toolOf } from "../support/kernel.ts";

const code = "export default {}";
const manifest = manifestOf(echo, "module");

function packed(change: Record<string, unknown> = {}) {
  const changed = { ...manifest, ...change };
  return { manifest: changed, code, hash: packageHash(changed, code, blake3Hash) ?? "" };
}

describe("registering", () => {
  it("takes a package whose hash fits", async () => {
    const { kernel } = await openKernel();
    expect(kernel.register(packed())).toMatchObject({ ok: true, value: { id: "echo@1.0.0" } });
  });

  it("refuses the same version twice", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    expect(kernel.registerTrusted(echo)).toMatchObject({
      ok: false,
      error: { code: "ALREADY_REGISTERED" },
    });
  });

  it("gives a name to one source in all versions, and to another one after it", async () => {
    const { kernel } = await openKernel();
    const [ours, theirs] = [{}, {}];
    const version = (of: string) => toolOf(() => 1, { name: "echo", version: of });
    const refused = {
      ok: false,
      error: { code: "ALREADY_REGISTERED", path: "/name", message: "The kernel has a tool echo of another source." },
    };
    for (const [owner, others] of [
      [ours, [theirs, undefined]],
      [undefined, [ours, theirs]],
    ] as const) {
      expect(kernel.registerTrusted(version("1.0.0"), owner)).toMatchObject({ ok: true });
      expect(kernel.registerTrusted(version("1.1.0"), owner)).toMatchObject({ ok: true });
      for (const other of others)
        for (const of of ["0.9.0", "1.1.0", "2.0.0"])
          expect(kernel.registerTrusted(version(of), other)).toMatchObject(refused);
      for (const of of ["1.0.0", "1.1.0"]) await kernel.unregister(`echo@${of}`);
    }
    expect(kernel.registerTrusted(version("1.0.0"), theirs)).toMatchObject({ ok: true });
    expect(kernel.register(packed({ version: "3.0.0" }))).toMatchObject(refused);
  });

  it("refuses changed code, a changed manifest and a missing hash", () => {
    expect(checkPackage({ ...packed(), code: `${code};` })).toMatchObject({ error: { code: "PACKAGE_HASH_MISMATCH" } });
    expect(checkPackage({ ...packed(), manifest: { ...manifest, tier: 1 } })).toMatchObject({
      error: { code: "PACKAGE_HASH_MISMATCH" },
    });
    expect(checkPackage({ manifest, code })).toMatchObject({ error: { code: "PACKAGE_HASH_MISMATCH" } });
  });

  it.each([
    ["a name with capitals", { name: "Echo" }, "/name"],
    ["a name that starts with a digit", { name: "1echo" }, "/name"],
    ["a name of 65 characters", { name: "a".repeat(65) }, "/name"],
    ["a name from Object.prototype", { name: "__proto__" }, "/name"],
    ["a version of two numbers", { version: "1.0" }, "/version"],
    ["a version with a leading zero", { version: "1.02.0" }, "/version"],
    ["an empty description", { description: "" }, "/description"],
    ["an unknown key", { sudo: true }, ""],
    ["an unknown effect", { effects: ["fs.format"] }, "/effects/0"],
    ["an unknown tier", { tier: 5 }, "/tier"],
    ["an unknown output kind", { output: { kind: "video" } }, "/output/kind"],
    ["an unknown bound", { bounds: { luck: 1 } }, "/bounds"],
    ["a bound of zero", { bounds: { timeoutMs: 0 } }, "/bounds/timeoutMs"],
    ["a bound above its ceiling", { bounds: { timeoutMs: 900_001 } }, "/bounds/timeoutMs"],
    ["an input that is no object", { input: { type: "string" } }, "/input/type"],
    ["an input schema that is none", { input: { type: "object", properties: 1 } }, "/input"],
    ["an unresolvable $ref", { input: { type: "object", $ref: "https://example.com/x" } }, "/input"],
    ["a pattern that can hang", { input: { type: "object", properties: { a: { pattern: "^(a+)+\\1$" } } } }, "/input"],
    ["a pure tool with effects", { effects: ["net.read"] }, "/determinism"],
    [
      "a capability whose effect is not listed",
      { determinism: "external", capabilities: [{ kind: "net.read", hosts: ["*"] }] },
      "/capabilities/0",
    ],
    [
      "a capability with an unknown kind",
      { determinism: "external", capabilities: [{ kind: "net.admin", hosts: ["*"] }] },
      "/capabilities/0",
    ],
    [
      "a host pattern that is none",
      { determinism: "external", effects: ["net.read"], capabilities: [{ kind: "net.read", hosts: ["http://x/"] }] },
      "/capabilities/0/hosts/0",
    ],
    ["a source that does not fit", { source: "inline" }, "/source"],
  ])("refuses %s", (_, change, path) => {
    const checked = checkPackage(packed(change));
    expect(checked).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST" } });
    expect(checked.ok || checked.error.path).toContain(path);
    expect(checked.ok || checked.error.message.length).toBeGreaterThan(10);
  });

  it.each([
    null,
    undefined,
    1,
    "echo",
    [],
    {},
    { manifest: null, code, hash: "x" },
    { definition: null },
    new Proxy(
      {},
      {
        has: () => {
          throw new Error("trap");
        },
      },
    ),
  ])("refuses %s without throwing", (foreign) => {
    expect(checkTrustedTool(foreign)).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST" } });
    expect(checkPackage(foreign)).toMatchObject({
      ok: false,
      error: { code: expect.stringMatching(/INVALID_MANIFEST|PACKAGE_HASH_MISMATCH|UNTRUSTED_TOOL/) },
    });
  });

  it("makes the first call of a refused package fail", async () => {
    const { kernel } = await openKernel();
    kernel.register(packed({ tier: 9 }));
    const result = await kernel.call("echo", { message: "x" });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "TOOL_NOT_FOUND" },
    });
  });

  it("freezes what it hashed", async () => {
    const { kernel } = await openKernel();
    const registered = kernel.register(packed());
    expect(() => registered.ok && ((registered.value.manifest as { tier: number }).tier = 0)).toThrow(TypeError);
    expect(Object.isFrozen(registered.ok && registered.value.manifest.input["properties"])).toBe(true);
  });
});

describe("the list", () => {
  it("is sorted by name, then by version, highest first, and filters", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { name: "zeta", tier: 2, category: "web", title: "Last letter" }));
    kernel.registerTrusted(toolOf(() => 1, { name: "alpha", version: "1.9.0" }));
    kernel.registerTrusted(toolOf(() => 1, { name: "alpha", version: "1.10.0", modes: ["NORMAL"] }));
    expect(kernel.list().map(({ id }) => id)).toEqual(["alpha@1.10.0", "alpha@1.9.0", "zeta@1.0.0"]);
    expect(kernel.list({ tier: 2 }).map(({ id }) => id)).toEqual(["zeta@1.0.0"]);
    expect(kernel.list({ category: "web" })).toHaveLength(1);
    expect(kernel.list({ text: "LAST" })).toHaveLength(1);
    expect(kernel.list({ mode: "ALERT" }).map(({ id }) => id)).toEqual(["alpha@1.9.0", "zeta@1.0.0"]);
    expect(kernel.list({ effect: "net.read" })).toEqual([]);
  });
});

describe("versions", () => {
  it("order as SemVer 2.0.0, section 11, has them", () => {
    const ordered = [
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
      "2.0.0",
      "2.1.0",
      "2.1.1",
    ];
    const shuffled = ordered.toReversed().map((text) => parseVersion(text)!);
    expect(shuffled.toSorted(compareVersions)).toEqual(ordered.map((text) => parseVersion(text)));
    expect(compareVersions(parseVersion("1.0.0+a")!, parseVersion("1.0.0+b")!)).toBe(0);
  });

  it.each(["1", "1.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "v1.0.0", "1.0.0 ", "9999999999.0.0", "1.0.0-a..b"])(
    "%j is none",
    (text) => {
      expect(parseVersion(text)).toBeUndefined();
    },
  );

  it.each([
    ["^1.2.3", ["1.2.3", "1.9.0"], ["1.2.2", "2.0.0", "1.3.0-rc.1"]],
    ["^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]],
    ["^0.0.3", ["0.0.3"], ["0.0.4"]],
    ["~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0"]],
    ["~1", ["1.0.0", "1.9.9"], ["2.0.0"]],
    ["1.x", ["1.0.0", "1.9.9"], ["2.0.0", "0.9.0"]],
    ["1.2.*", ["1.2.0"], ["1.3.0"]],
    ["1.2.3", ["1.2.3", "1.2.3+build"], ["1.2.4"]],
    ["1.0.0-rc.1", ["1.0.0-rc.1"], ["1.0.0"]],
    ["1.2.3+build", ["1.2.3+build"], ["1.2.3", "1.2.3+other", "1.2.3-rc+build"]],
    ["1.0.0-9007199254740993", ["1.0.0-9007199254740993"], ["1.0.0-9007199254740992", "1.0.0-9007199254740994"]],
  ])("the range %s", (range, inside, outside) => {
    const matches = parseRange(range)!;
    expect(inside.filter((text) => !matches(parseVersion(text)!))).toEqual([]);
    expect(outside.filter((text) => matches(parseVersion(text)!))).toEqual([]);
  });

  it("forbid each build of a version", () => {
    const isMet = parseRange("1.2.3+build", true)!;
    expect(["1.2.3", "1.2.3+other"].map((text) => isMet(parseVersion(text)!))).toEqual([true, true]);
  });

  it("of one number with other builds are two tools: a caller gets the one that it names", async () => {
    const { kernel } = await openKernel();
    for (const build of ["a", "b"])
      kernel.registerTrusted(toolOf(() => build, { name: "built", version: `1.0.0+${build}` }));
    const called = async (version: string): Promise<unknown> => {
      const result = await kernel.call("built", {}, { version });
      return result.ok ? result.data : result.error.code;
    };
    expect([await called("1.0.0+a"), await called("1.0.0+b"), await called("1.0.0+c")]).toEqual([
      "a",
      "b",
      "TOOL_NOT_FOUND",
    ]);
  });

  it.each(["", "latest", ">=1.0.0", "1 - 2", "^", "1.2.3.4", "*", "1.x.3", "^1.*.0"])("%j is no range", (text) => {
    expect(parseRange(text)).toBeUndefined();
  });
});
