import type { CallResult } from "@keyhole/kernel";
import { wasmHost, wasmPackage } from "@keyhole/worker-host/wasm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modules, type Rig, rigOf, toolOf } from "../wasm/tools.ts";
import { randomFrom } from "../support/random.ts";
import { sized } from "../support/size.ts";

const FUEL = 20_000_000;
const codeOf = (result: CallResult): string => (result.ok ? "OK" : result.error.code);

describe("what a module can ask of its host", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await rigOf(wasmHost({ fuel: FUEL }));
  });
  afterAll(() => rig.kernel.close());

  it.each([
    ["nothing that is JSON", "{"],
    ["a list", "[1]"],
    ["no kind", '{"operation":"read"}'],
    ["a kind from Object.prototype", '{"kind":"__proto__","operation":"read"}'],
    ["a kind that is none", '{"kind":"fs read","operation":"read"}'],
    ["arguments that are a text", '{"kind":"fs.read","operation":"read","arguments":"x"}'],
    [
      "arguments that nest too deeply",
      `{"kind":"fs.read","operation":"read","arguments":${'{"a":'.repeat(20)}1${"}".repeat(20)}}`,
    ],
    ["two bodies", '{"kind":"fs.write","operation":"write","arguments":{"path":"out/x"},"text":"a","base64":"YQ=="}'],
    ["a body that is no base64", '{"kind":"fs.write","operation":"write","arguments":{"path":"out/x"},"base64":"%"}'],
    ["another form of answer", '{"kind":"fs.read","operation":"list","arguments":{"path":""},"reply":"binary"}'],
    ["a secret without a name", '{"kind":"secret.use","operation":"placeholder","arguments":{"name":"a b"}}'],
    ["a log line at no level", '{"kind":"log","operation":"constructor","arguments":{"message":"x"}}'],
  ])("a request that has %s is refused, and the call goes on", async (_, request) => {
    const result = await rig.call("ask", request);
    expect(result).toMatchObject({ ok: true, data: { ok: false, error: { code: "INVALID_REQUEST" } } });
  });

  it("a stand-in for a secret is one, and no secret", async () => {
    const request = '{"kind":"secret.use","operation":"placeholder","arguments":{"name":"token"}}';
    expect(await rig.call("ask", request)).toMatchObject({
      data: { ok: true, value: expect.stringMatching(/^keyhole-secret\.[0-9a-f]{32}\.token\.$/) },
    });
  });

  it.each([
    ["read", "private/key"],
    ["read", "/private/key"],
    ["read", "./private//key"],
    ["read", "a/../private/key"],
    ["read", "out/../../private/key"],
    ["write", "elsewhere"],
    ["write", "out/../granted"],
    ["remove", "granted"],
    ["list", "../"],
  ])("%s %s: what is not granted cannot be reached by another name", async (deed, path) => {
    const result = await rig.call(deed, path);
    expect(result).toMatchObject({ ok: true, data: { failed: expect.any(String) } });
    const granted = await rig.store.read("granted", 100);
    expect(granted.ok && new TextDecoder().decode(granted.value)).toBe("content");
  });

  it("more lines than a call may write are not passed on", async () => {
    const lines: unknown[] = [];
    await rig.call("chatter", "", { onLog: (line) => lines.push(line) });
    expect(lines.length).toBe(1_000);
  });
});

const endings = new Set(
  "OK TOOL_ERROR OUT_OF_FUEL OUT_OF_MEMORY BOUNDS_EXCEEDED NOT_NORMALIZABLE CAPABILITY_DENIED INVALID_OUTPUT".split(
    " ",
  ),
);

describe("programs with flipped bytes", () => {
  it("are refused when they are packed, or end in one of the ways in which a program ends", async () => {
    const next = randomFrom(11);
    const original = toolOf("subject");
    const seen = new Map<string, number>();
    for (let i = 0; i < sized(80, 1_000); i++) {
      const code = modules.subject.slice();
      // One bit, behind the types and imports: most of those are refused, and the rest runs as something else.
      code[Math.floor((0.05 + 0.95 * next()) * code.length)]! ^= 1 << Math.floor(next() * 8);
      const { source: _, ...definition } = original.manifest;
      const packed = wasmPackage(definition as never, code);
      const ending = packed.ok ? await run(packed.value) : packed.error.code;
      seen.set(ending, (seen.get(ending) ?? 0) + 1);
    }
    const { INVALID_MANIFEST: refused = 0, ...ran } = Object.fromEntries(seen);
    expect(Object.keys(ran).filter((ending) => !endings.has(ending))).toEqual([]);
    // Else it tested nothing.
    expect(refused).toBeGreaterThan(20);
    expect(Object.values(ran).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(7);
  });

  async function run(tool: ReturnType<typeof toolOf>): Promise<string> {
    const rig = await rigOf(wasmHost({ fuel: 2_000_000 }), tool);
    const result = await rig.call("request", "granted|a/one");
    await rig.kernel.close();
    return codeOf(result);
  }
});
