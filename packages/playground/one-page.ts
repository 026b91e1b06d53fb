import { deflateRawSync } from "node:zlib";
import { withContent } from "./one-file.ts";

/** What a build without split chunks gives: pages, scripts, styles and modules of WebAssembly, by the name that scripts call them by. */
export interface BuiltFiles {
  readonly html: string;
  readonly style: string;
  /** Of the page; no other script is loaded by a tag. */
  readonly script: string;
  /** Of workers. */
  readonly workers: ReadonlyMap<string, string>;
  readonly wasm: ReadonlyMap<string, Uint8Array>;
}

/** An address of a file stands in a script as a text of its own. */
const address = /(["'`])\/assets\/([\w.@-]+)\1/g;

/**
 * Makes one HTML file of the playground. Workers stand in the page's script as texts, from which it makes blobs; modules of WebAssembly stand in the worker that
 * fetches them, deflated. The page's policy is the one of many files with digests in the place of `'self'`: it allows no script beside these, and the isolates'
 * frames inherit it as ever.
 *
 * @param frameDigest of the one script that the page puts into frames
 * @throws Error for a file that a script names and the build does not have
 */
export function onePage({ html, style, script, workers, wasm }: BuiltFiles, frameDigest: string): string {
  const made = new Map<string, string>();
  const embed = (code: string, from: readonly string[]): string => {
    const named = new Set<string>();
    const text = code.replaceAll(address, (_, _quote, name: string) => {
      if (!workers.has(name) && !wasm.has(name)) throw new Error(`${from.at(-1)} names ${name}, which was not built.`);
      named.add(name);
      return `self.keyholeFile(${JSON.stringify(name)})`;
    });
    if (text.includes("/assets/")) throw new Error(`${from.at(-1)} names a file in a way that is not known.`);
    return `${prologue([...named], from)}${text}`;
  };
  const prologue = (names: readonly string[], from: readonly string[]): string => {
    if (names.length === 0) return "";
    const scripts = names.filter((name) => workers.has(name)).map((name) => [name, workerText(name, from)] as const);
    const modules = names
      .filter((name) => wasm.has(name))
      .map((name) => [name, deflateRawSync(wasm.get(name)!, { level: 9 }).toString("base64")] as const);
    return `(${withFiles})(${jsonOf(Object.fromEntries(scripts))},${jsonOf(Object.fromEntries(modules))});\n`;
  };
  const workerText = (name: string, from: readonly string[]): string => {
    if (from.includes(name)) throw new Error(`${name} starts itself.`);
    const text = made.get(name) ?? embed(workers.get(name)!, [...from, name]);
    made.set(name, text);
    return text;
  };
  const content = { script: embed(script, ["the page"]).trim(), style: style.trim() };
  const marked = html
    .replace("<html", "<html data-one-file")
    .replace(/<link rel="icon"[^>]*>/, '<link rel="icon" href="data:," />');
  return withContent(marked, content, (digests) => [
    "default-src 'none'",
    `script-src '${digests.script}' 'sha256-${frameDigest}' blob: 'wasm-unsafe-eval'`,
    "worker-src blob:",
    "connect-src http: https:",
    `style-src '${digests.style}'`,
    "img-src blob: data:",
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ]);
}

/**
 * Runs first in the page, and in each worker that names files. The address of a worker is a blob of this page. The address of a module is a name: `fetch` inflates the
 * module, and the engine compiles it meanwhile.
 */
const withFiles = `(scripts, modules) => {
  const blobs = new Map(), own = self.fetch.bind(self), scheme = "keyhole-file:";
  self.keyholeFile = (name) => {
    if (Object.hasOwn(modules, name)) return scheme + name;
    if (!blobs.has(name)) blobs.set(name, URL.createObjectURL(new Blob([scripts[name]], { type: "text/javascript" })));
    return blobs.get(name);
  };
  if (Object.keys(modules).length === 0) return;
  self.fetch = (input, init) => {
    const name = typeof input === "string" && input.startsWith(scheme) ? input.slice(scheme.length) : undefined;
    if (name === undefined || !Object.hasOwn(modules, name)) return own(input, init);
    const deflated = Uint8Array.from(atob(modules[name]), (letter) => letter.charCodeAt(0));
    const inflated = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return Promise.resolve(new Response(inflated, { headers: { "content-type": "application/wasm" } }));
  };
}`;

/** A JSON text that is an expression of JavaScript, too, and ends no script. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
