import { type Capability, checkPackage, createKernel, type JsonValue, type Kernel, type Tool } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { builtinTools, runCode, webSearchAt } from "@keyhole/worker-host/tools";
import { beforeEach, describe, expect, it } from "vitest";
import calculator from "../../packages/worker-host/src/tools/calculator.ts";
import deleteFile from "../../packages/worker-host/src/tools/delete-file.ts";
import echo from "../../packages/worker-host/src/tools/echo.ts";
import hash from "../../packages/worker-host/src/tools/hash.ts";
import listDirectory from "../../packages/worker-host/src/tools/list-directory.ts";
import readFile from "../../packages/worker-host/src/tools/read-file.ts";
import writeFile from "../../packages/worker-host/src/tools/write-file.ts";
import { sized } from "../support/size.ts";

const files: readonly Capability[] = [
  { kind: "fs.read", paths: ["**"] },
  { kind: "fs.write", paths: ["**"], except: ["locked/**"] },
];

let kernel: Kernel;
beforeEach(async () => {
  kernel = await createKernel({
    policy: { version: "1", posture: "permissive", grants: files.map((capability) => ({ tool: "*", capability })) },
    brokers: [filesBroker(memoryStore())],
    approver: async () => ({ answer: "allow", scope: "once", approver: "test" }),
  });
  for (const tool of [calculator, deleteFile, echo, hash, listDirectory, readFile, writeFile] as readonly Tool<
    never,
    unknown
  >[]) {
    const registered = kernel.registerTrusted(tool);
    if (!registered.ok) throw new Error(registered.error.message);
  }
});

const failure = (code: string, message: RegExp) => ({
  ok: false,
  error: { code, message: expect.stringMatching(message) as string },
});

describe("packages", () => {
  it("are sorted by name, each hash-checked, with a title and text for models", () => {
    const names = builtinTools.map(({ manifest }) => manifest.name);
    expect(names).toEqual([
      "calculator",
      "delete_file",
      "echo",
      "fetch_url",
      "hash",
      "http_fetch",
      "kv_get",
      "kv_put",
      "list_directory",
      "read_file",
      "sql_query",
      "write_file",
    ]);
    for (const pkg of builtinTools) {
      expect(checkPackage(pkg)).toMatchObject({ ok: true });
      expect(pkg.manifest.title).toBeTypeOf("string");
      expect(pkg.manifest.description.length).toBeGreaterThan(40);
      expect(pkg.manifest.input["additionalProperties"]).toBe(false);
      expect(pkg.manifest.output.schema?.["additionalProperties"]).toBe(false);
    }
  });

  it.each(
    [...builtinTools, runCode, webSearchAt("https://search.example.org/search")].map(
      (pkg) => [pkg.manifest.name, pkg] as const,
    ),
  )("give examples of their input that they take: %s", (_, { manifest }) => {
    const compiled = compileSchema(manifest.input);
    if (!compiled.ok) throw new Error(compiled.error.message);
    const examples = manifest.input["examples"] as readonly JsonValue[];
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(compiled.validator.validate(example)).toMatchObject({ ok: true });
  });

  it("say what they do to the world", () => {
    const effects = Object.fromEntries(
      builtinTools.map(({ manifest }) => [manifest.name, [manifest.tier, manifest.determinism, ...manifest.effects]]),
    );
    expect(effects).toEqual({
      calculator: [0, "pure"],
      delete_file: [3, "external", "fs.write"],
      echo: [0, "pure"],
      fetch_url: [1, "external", "net.read"],
      hash: [0, "pure"],
      http_fetch: [1, "external", "net.read", "net.write"],
      kv_get: [1, "external", "kv.read"],
      kv_put: [2, "external", "kv.write"],
      list_directory: [1, "external", "fs.read"],
      read_file: [1, "external", "fs.read"],
      sql_query: [1, "external", "db.read"],
      write_file: [2, "external", "fs.write"],
    });
  });
});

it("echo", async () => {
  expect(await kernel.call("echo", { message: "hello ✓" })).toMatchObject({ ok: true, data: { message: "hello ✓" } });
  expect(await kernel.call("echo", { message: 1 })).toMatchObject(failure("INVALID_INPUT", /message/));
  expect(await kernel.call("echo", { message: "a", more: 1 })).toMatchObject({
    ok: false,
    error: { code: "INVALID_INPUT" },
  });
});

describe("calculator", () => {
  it("computes", async () => {
    expect(await kernel.call("calculator", { expression: "-2^2 + sqrt(16)" })).toMatchObject({
      ok: true,
      data: { value: 0 },
    });
  });
  it("refuses what it cannot read, with the column", async () => {
    expect(await kernel.call("calculator", { expression: "1 + * 2" })).toMatchObject(
      failure("INVALID_INPUT", /column 5: expected a number/),
    );
  });
  it("fails where there is no value, with the column", async () => {
    expect(await kernel.call("calculator", { expression: "2 * (1/0)" })).toMatchObject(
      failure("TOOL_ERROR", /division by zero \(column 7\)/),
    );
  });
});

describe("hash", () => {
  // From the BLAKE3 specification's test vectors (input bytes 0, 1, 2, …, 250, 0, …).
  const vector = (length: number) => Uint8Array.from({ length }, (_, i) => i % 251);
  it.each([
    [0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"],
    [1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"],
    [1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"],
    [102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"],
    // From hash-wasm, which test/peers/hash-wasm asks.
    [65_536, "68d647e619a930e7b1082f74f334b0c65a315725569bdc123f0ee11881717bfe"],
    [1_000_003, "cd5a3272e01b1a2f47bb4565d8d202db0f95704d32550a2da61a0fd363d4c90d"],
    ...sized<[number, string][]>([], [[5_000_000, "1ab09ef1af116159d8d394fc5a13c25842753b617048329dc8874051d1b9e171"]]),
  ])("gives the digest of %i bytes", async (length, digest) => {
    const data = Buffer.from(vector(length)).toString("base64");
    expect(await kernel.call("hash", { data, encoding: "base64" })).toMatchObject({
      ok: true,
      data: { algorithm: "blake3", digest, byteLength: length },
    });
  });
  it("takes text as UTF-8", async () => {
    const text = await kernel.call("hash", { data: "grüße ✓" });
    const bytes = await kernel.call("hash", { data: Buffer.from("grüße ✓").toString("base64"), encoding: "base64" });
    expect(text.ok && text.data).toEqual(bytes.ok && bytes.data);
  });
  it.each(["a", "ab==c", "====", "a===", "ab-_", "YQ", "YQ==\n"])("refuses %j as base64", async (data) => {
    expect(await kernel.call("hash", { data, encoding: "base64" })).toMatchObject(
      failure("INVALID_INPUT", /not base64/),
    );
  });
});

describe("the file tools", () => {
  it("write, list, read and delete", async () => {
    expect(await kernel.call("write_file", { path: "notes/a.txt", content: "grüße" })).toMatchObject({
      ok: true,
      data: { path: "notes/a.txt", byteLength: 7 },
      effects: ["fs.write"],
    });
    expect(await kernel.call("list_directory", {})).toMatchObject({
      ok: true,
      data: { path: "", entries: [{ name: "notes", kind: "directory", byteLength: 0 }] },
    });
    expect(await kernel.call("list_directory", { path: "notes" })).toMatchObject({
      ok: true,
      data: { entries: [{ name: "a.txt", kind: "file", byteLength: 7 }] },
    });
    expect(await kernel.call("read_file", { path: "notes/a.txt" })).toMatchObject({
      ok: true,
      data: { content: "grüße", encoding: "text", byteLength: 7 },
      effects: ["fs.read"],
    });
    expect(await kernel.call("delete_file", { path: "notes/a.txt" })).toMatchObject({
      ok: true,
      data: { path: "notes/a.txt", deleted: true },
    });
    expect(await kernel.call("list_directory", {})).toMatchObject({ ok: true, data: { entries: [] } });
  });

  it("carry bytes that are no text as base64", async () => {
    const content = Buffer.from([0, 255, 128, 7]).toString("base64");
    expect(await kernel.call("write_file", { path: "a.bin", content, encoding: "base64" })).toMatchObject({
      ok: true,
      data: { byteLength: 4 },
    });
    expect(await kernel.call("read_file", { path: "a.bin" })).toMatchObject(
      failure("TOOL_ERROR", /not UTF-8 text; read it with encoding base64/),
    );
    expect(await kernel.call("read_file", { path: "a.bin", encoding: "base64" })).toMatchObject({
      ok: true,
      data: { content },
    });
    expect(await kernel.call("write_file", { path: "a.bin", content: "?", encoding: "base64" })).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
  });

  it("keep a byte order mark", async () => {
    await kernel.call("write_file", { path: "bom", content: "\ufeffa" });
    expect(await kernel.call("read_file", { path: "bom" })).toMatchObject({
      ok: true,
      data: { content: "\ufeffa", byteLength: 4 },
    });
  });

  it("fail readably where nothing is", async () => {
    const result = await kernel.call("read_file", { path: "missing.txt" });
    expect(result).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("does not exist") as string },
    });
  });

  it.each(["../etc/passwd", "/etc/passwd", "a\\b", "a/../b", "%2e%2e/..", "C:/x"])(
    "refuse the path %j",
    async (path) => {
      for (const [name, input] of [
        ["read_file", { path }],
        ["write_file", { path, content: "" }],
        ["delete_file", { path }],
        ["list_directory", { path }],
      ] as const) {
        const result = await kernel.call(name, input);
        expect(result).toMatchObject({ ok: false });
        expect(JSON.stringify(result), name).toContain("The path is invalid");
      }
    },
  );

  it("stay inside the grant", async () => {
    expect(await kernel.call("write_file", { path: "locked/a", content: "" })).toMatchObject(
      failure("CAPABILITY_DENIED", /locked\/a/),
    );
    expect(await kernel.call("read_file", { path: "a" }, { grants: [] })).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED" },
    });
  });

  it("bound a file at 2 MiB", async () => {
    expect(await kernel.call("write_file", { path: "big", content: "x".repeat(2 << 20) })).toMatchObject({ ok: true });
    expect(await kernel.call("write_file", { path: "bigger", content: "x".repeat((2 << 20) + 1) })).toMatchObject({
      ok: false,
    });
    expect(await kernel.call("read_file", { path: "big" })).toMatchObject({ ok: true, data: { byteLength: 2 << 20 } });
  });
});
