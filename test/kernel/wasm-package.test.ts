import { blake3Hash, checkPackage, checkTrustedTool, packageHash, type ToolPackage } from "@keyhole/kernel";
import { wasmHost, wasmPackage } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { echo, openKernel } from "../support/kernel.ts";
import { modules, toolOf } from "../wasm/tools.ts";

const pkg = toolOf("plain");
const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

describe("a package of a module", () => {
  it("has one hash, whether its code comes as bytes or as their base64", async () => {
    const { kernel } = await openKernel();
    const asJson = JSON.parse(JSON.stringify({ ...pkg, code: base64(modules.plain) })) as ToolPackage;
    const [bytes, text] = [checkPackage(pkg), checkPackage(asJson)];
    expect(bytes.ok && text.ok && [text.value.hash, text.value.codeHash]).toEqual(
      bytes.ok && [bytes.value.hash, bytes.value.codeHash],
    );
    expect(text.ok && text.value.body).toEqual({ source: "wasm", code: modules.plain });
    expect(kernel.register(asJson)).toMatchObject({ ok: true, value: { id: "subject@1.0.0", hash: pkg.hash } });
  });

  it("is refused when a byte of it was changed", () => {
    const code = modules.plain.slice();
    code[code.length - 1]! ^= 1;
    expect(checkPackage({ ...pkg, code })).toMatchObject({ error: { code: "PACKAGE_HASH_MISMATCH" } });
  });

  it("runs what was hashed, whatever becomes of the bytes that were given", () => {
    const code = modules.plain.slice();
    const checked = checkPackage({ ...pkg, code });
    code.fill(0);
    expect(checked).toMatchObject({ ok: true, value: { body: { code: modules.plain } } });
  });

  it.each([
    ["a text that is no base64", { code: "(module)" }, "/code"],
    ["a number", { code: 1 }, "/code"],
    ["nothing", { code: undefined }, "/code"],
    ["more bytes than a module may have", { code: new Uint8Array(16_777_217) }, "/code"],
    ["bytes under the source of a text", { manifest: { ...pkg.manifest, source: "module", wasm: undefined } }, "/code"],
    ["a program", { manifest: { ...pkg.manifest, program: "code" } }, "/program"],
    ["arguments that are no texts", { manifest: { ...pkg.manifest, wasm: { args: [1] } } }, "/wasm/args/0"],
  ])("is refused with %s", (_, change, path) => {
    const changed = { ...pkg, ...change };
    const manifest: unknown = JSON.parse(JSON.stringify(changed.manifest));
    expect(checkPackage({ ...changed, manifest, hash: "" })).toMatchObject({
      error: { code: "INVALID_MANIFEST", path },
    });
  });

  it("is the only one that is started like a command", () => {
    const definition = { ...echo.definition, wasm: { args: [] } };
    expect(checkTrustedTool({ ...echo, definition })).toMatchObject({
      error: { code: "INVALID_MANIFEST", path: "/wasm" },
    });
  });
});

describe("registering a module", () => {
  const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];
  const magic = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const unknownImport = Uint8Array.from([
    ...magic,
    1,
    4,
    1,
    0x60,
    0,
    0,
    2,
    11,
    1,
    ...name("env"),
    ...name("hop"),
    0,
    0,
  ]);
  const packed = (code: Uint8Array) => ({ ...pkg, code, hash: packageHash(pkg.manifest, code, blake3Hash) ?? "" });

  it.each([
    ["an import that nobody offers", unknownImport, 'UNKNOWN_IMPORT: The module imports the function "env" "hop"'],
    ["no module", new TextEncoder().encode("hello"), "INVALID_MODULE: "],
    ["half a module", modules.subject.slice(0, 1_000), "INVALID_MODULE: "],
    ["nothing to run", Uint8Array.from(magic), "The module does not export its memory"],
  ])("says what is wrong with %s", async (_, code, message) => {
    const { kernel } = await openKernel({ host: wasmHost() });
    const error = { code: "INVALID_MANIFEST", path: "/code", message: expect.stringContaining(message) };
    expect(kernel.register(packed(code))).toMatchObject({ ok: false, error });
    expect(wasmPackage({ ...definition }, code)).toMatchObject({ ok: false, error });
    // The first call says it again.
    expect(await kernel.call("subject", { deed: "echo" })).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
  });

  it.each<[string, object, RegExp, RegExp]>([
    ["no name", { name: undefined }, /^$/, /the property "name"/],
    ["a misspelt member", { bound: { fuel: 1 } }, /^$/, /no property "bound"/],
    ["a schema that is none", { input: { type: "thing" } }, /^\/input/, /type/],
  ])("says what is wrong with %s, when it is packed", (_, change, path, message) => {
    const refused = wasmPackage({ ...definition, ...change }, modules.subject);
    const error = {
      code: "INVALID_MANIFEST",
      path: expect.stringMatching(path),
      message: expect.stringMatching(message),
    };
    expect(refused).toMatchObject({ ok: false, error });
  });

  it("says what a manifest from a file lacks", () => {
    const { name: _, output: __, ...rest } = definition;
    const message = "The manifest lacks name, output.";
    expect(wasmPackage(rest as typeof definition, modules.subject)).toMatchObject({ error: { message } });
  });

  const definition = {
    name: "subject",
    version: "1.0.0",
    description: "A module.",
    input: { type: "object" },
    output: { kind: "json" },
  } as const;
});
