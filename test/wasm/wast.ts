import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A command of wabt's `wast2json`. */
export interface Command {
  readonly type: string;
  readonly line: number;
  readonly name?: string;
  readonly filename?: string;
  readonly as?: string;
  readonly module_type?: string;
  readonly action?: {
    readonly type: "invoke" | "get";
    readonly field: string;
    readonly module?: string;
    readonly args?: readonly { readonly type: string; readonly value?: unknown }[];
  };
}

export interface Script {
  readonly name: string;
  readonly commands: readonly Command[];
  readonly modules: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

const folder: string = fileURLToPath(
  new URL(`${process.env["KEYHOLE_SUITES"] ?? "../shared/suites"}/wasm/`, new URL("../../", import.meta.url)),
);

/** Why the suite cannot run here, if it cannot. */
export function missing(): string | undefined {
  if (!existsSync(folder)) return `there is no ${folder} (KEYHOLE_SUITES)`;
  if (spawnSync("wast2json", ["--version"]).status !== 0) return "there is no wast2json (Debian: wabt)";
  return undefined;
}

export const scripts: readonly string[] = existsSync(folder)
  ? readdirSync(folder)
      .filter((name) => name.endsWith(".wast"))
      .map((name) => name.slice(0, -5))
      .sort()
  : [];

/**
 * One file of the suite. Of a file that this wabt cannot read whole, each module with what is said of it becomes a script of its own, and
 * those that it can read are returned.
 *
 * @param mostParts each part is a process of its own
 */
export function readScripts(name: string, mostParts: number = Infinity): Script[] {
  const text = readFileSync(join(folder, `${name}.wast`), "utf8");
  const whole = convert(name, text);
  if (whole) return [whole];
  return parts(text)
    .slice(0, mostParts)
    .flatMap((part, i) => convert(`${name}-${i}`, part) ?? []);
}

function convert(name: string, text: string): Script | undefined {
  const place = mkdtempSync(join(tmpdir(), "keyhole-wast-"));
  try {
    writeFileSync(join(place, "in.wast"), text);
    const flags = ["--enable-exceptions", "--enable-tail-call", "--enable-extended-const"];
    if (spawnSync("wast2json", ["in.wast", "-o", "out.json", ...flags], { cwd: place }).status !== 0) return undefined;
    const { commands } = JSON.parse(readFileSync(join(place, "out.json"), "utf8")) as { commands: readonly Command[] };
    const files = readdirSync(place).filter((file) => file.endsWith(".wasm"));
    return {
      name,
      commands,
      modules: new Map(files.map((file) => [file, new Uint8Array(readFileSync(join(place, file)))])),
    };
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Each module of a script with the assertions that run it. */
function parts(text: string): string[] {
  const groups: string[][] = [];
  for (const form of forms(text)) {
    if (/^\(\s*module\b/.test(form)) groups.push([form]);
    else if (/^\(\s*(?:invoke|assert_return|assert_trap|assert_exhaustion|assert_exception)\b/.test(form))
      groups.at(-1)?.push(form);
  }
  return groups.map((group) => group.join("\n"));
}

/** The expressions at the top of a script. */
function forms(text: string): string[] {
  const tokens = /;;[^\n]*|\(;[^]*?;\)|"(?:[^"\\]|\\.)*"|[()]/g;
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === "(" && depth++ === 0) start = index;
    if (token === ")" && --depth === 0) found.push(text.slice(start, index + 1));
  }
  return found;
}
