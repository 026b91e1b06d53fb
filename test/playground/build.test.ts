import { createKernel, defineTool } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openFiles } from "../../packages/playground/src/authoring/open-files.ts";
import { readLink, writeLink } from "../../packages/playground/src/authoring/link.ts";
import { startSource } from "../../packages/playground/src/authoring/start-source.ts";
import { declare, undeclared, usesIn } from "../../packages/playground/src/authoring/uses.ts";

const deflated = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
};

describe("a link to a source", () => {
  it("gives the source again", async () => {
    const text = await writeLink(`${startSource} // é \u202e`);
    expect(await readLink(text!)).toEqual({ ok: true, source: `${startSource} // é \u202e` });
  });

  it.each([
    ["a link of 5 MB", async () => "A".repeat(5_000_000), "5,000,000 characters"],
    ["a small link that unpacks to 50 MB", () => deflated(new Uint8Array(50_000_000)), "unpacks to more than"],
    ["letters that are no base64url", async () => "<script>", "no base64url"],
    ["bytes that are not deflated", async () => "AAAAAAAA____", "cannot be unpacked"],
    ["text that is no UTF-8", () => deflated(new Uint8Array([0xff, 0xfe, 0x80])), "cannot be unpacked"],
  ])("is refused: %s", async (_, make, reason) => {
    expect(await readLink(await make())).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});

describe("uses of capabilities in a source", () => {
  it.each([
    ["fetch(url)", ["net.read", "net.write"]],
    ["context.kv.put('a', 1)", ["kv.write"]],
    ["context\n  .files?.read('a')", ["fs.read"]],
    ["db('main').query('select 1')", ["db.read", "db.write"]],
    ["await tools.call('echo', {})", ["tool.call"]],
  ])("%s", (call, kinds) => {
    expect(usesIn(`async function a(context) { await ${call}; }`)[0]?.kinds).toEqual(kinds);
  });

  it("are not found in strings, comments, or members of something else", () => {
    expect(usesIn('"fetch(1)"; /* kv.put() */ my.own.thing.fetch(1); map.get(1)')).toEqual([]);
  });

  it.each(["net.read", "net.write", "fs.read", "fs.write", "kv.read", "kv.write", "db.read", "tool.call"])(
    "are declared by one change that the kernel takes: %s",
    async (kind) => {
      const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
      // The source is our own, and without types it is JavaScript.
      const body = declare(startSource, kind)!
        .replace(/^import.*$/m, "")
        .replace("export default", "return");
      const tool = new Function("defineTool", body)(defineTool) as Parameters<typeof kernel.registerTrusted>[0];
      expect(kernel.registerTrusted(tool)).toMatchObject({ ok: true });
    },
  );

  it("are declared with their effect by one change", () => {
    const [use] = usesIn("fetch('x')");
    expect(undeclared([use!], [])).toHaveLength(1);
    const declared = declare(startSource, "net.read")!;
    expect(declared).toContain('effects: ["net.read"]');
    expect(declared).toContain('capabilities: [{ kind: "net.read", hosts: ["example.com"] }]');
    expect(declare("const capabilities = none;", "net.read")).toBeUndefined();
  });
});

describe("files that a person gives", () => {
  const file = (name: string, text = "x"): File => new File([text], name);

  it("are a source, or a module with a manifest that is there or begun", async () => {
    expect(await openFiles([file("a.ts", "source")])).toMatchObject({ ok: true, source: "source" });
    expect(await openFiles([file("a.json", "{}"), file("a.wasm")])).toMatchObject({ module: { manifest: "{}" } });
    const alone = await openFiles([file("../9 \u202eTool.wasm")]);
    expect(alone).toMatchObject({ ok: true, module: { manifest: expect.stringContaining('"name": "tool"') } });
  });

  it.each([
    ["of another kind", [file("a.exe")], "Give a .ts"],
    ["none", [], "Give a .ts"],
    ["too large", [file("a.ts", "x".repeat(500_001))], "at most 500,000"],
  ])("are refused: %s", async (_, files, reason) => {
    expect(await openFiles(files)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});
