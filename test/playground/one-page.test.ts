import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type BuiltFiles, onePage } from "../../packages/playground/one-page.ts";

const html = `<!doctype html><html lang="en"><head><link rel="icon" href="./icon.svg" /><script type="module" crossorigin src="/assets/index.js"></script>
<link rel="stylesheet" href="/assets/index.css"></head><body><div id="root"></div></body></html>`;
const wasm = new Uint8Array(100_000).map((_, i) => i % 7);
const built = (more: Partial<BuiltFiles>): BuiltFiles => ({
  html,
  style: "a{}",
  script: "globalThis.got = `/assets/kernel-1.js`;",
  workers: new Map([["kernel-1.js", 'const at = `/assets/engine-1.wasm`; "</script><!--";']]),
  wasm: new Map([["engine-1.wasm", wasm]]),
  ...more,
});
const digest = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const scriptOf = (page: string): string => /<script type="module">([\s\S]*)<\/script>\s*<\/body>/.exec(page)![1]!;

describe("the playground as one file", () => {
  it("loads nothing, and its policy allows its own script and style by their digests alone", () => {
    const page = onePage(built({}), "FRAME");
    const policy = /content="([^"]*)"/.exec(page)![1]!;
    expect(policy).toContain(`script-src ${digest(scriptOf(page))} 'sha256-FRAME' blob: 'wasm-unsafe-eval'`);
    expect(policy).toContain(`style-src ${digest("a{}")}`);
    expect(policy).toMatch(/^default-src 'none'/);
    expect(policy).toContain("frame-src 'none'");
    expect(policy).not.toMatch(/unsafe-inline|unsafe-eval(?<!wasm-unsafe-eval)|'self'|\*/);
    expect(page.match(/Content-Security-Policy/g)).toHaveLength(1);
    expect(page).not.toMatch(/<link(?! rel="icon" href="data:,")|src=|assets\//);
    expect(page.match(/<\/script>/g)).toHaveLength(1);
    expect(page).not.toContain("<!--");
  });

  it("gives a worker as a blob, and in it a module that fetch inflates", async () => {
    const page: { got?: string } = {};
    const run = (code: string, self: object, globals: object): void =>
      void new Function("self", "globalThis", code)(self, globals);
    const refused = () => Promise.reject(new Error("the network"));
    run(scriptOf(onePage(built({}), "F")), { fetch: refused }, page);
    const worker = await (await fetch(page.got!)).text();
    const realm: { fetch: typeof fetch } = { fetch: refused };
    const kept: { at?: string } = {};
    run(worker.replace("const at =", "globalThis.at ="), realm, kept);
    expect(kept.at).toBe("keyhole-file:engine-1.wasm");
    const response = await realm.fetch(kept.at!);
    expect(response.headers.get("content-type")).toBe("application/wasm");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(wasm);
    await expect(realm.fetch("keyhole-file:__proto__")).rejects.toThrow("the network");
    await expect(realm.fetch("https://example.com/")).rejects.toThrow("the network");
  });

  it.each([
    ["a worker that is not there", { workers: new Map() }, "the page names kernel-1.js, which was not built."],
    ["a module that is not there", { wasm: new Map() }, "kernel-1.js names engine-1.wasm, which was not built."],
    [
      "a worker that starts itself",
      { workers: new Map([["kernel-1.js", "new Worker(`/assets/kernel-1.js`)"]]) },
      "kernel-1.js starts itself.",
    ],
    ["an address that is put together", { script: '"/assets/" + name' }, "the page names a file in a way"],
  ])("is not made of %s", (_, more, message) => {
    expect(() => onePage(built(more), "F")).toThrow(message);
  });
});
