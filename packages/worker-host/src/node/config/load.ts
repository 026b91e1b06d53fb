import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type JsonValue, snapshot } from "@keyhole/kernel";
import type { Position } from "@keyhole/kernel/policy";
import type { ConfigFault } from "../../config/fault.ts";
import { type Config, readConfig } from "../../config/read.ts";
import { readBoundedFile, readBoundedText } from "../bounded-file.ts";
import { locateLiteral } from "./literal.ts";
import { readConfigText, type TextFormat } from "./read-text.ts";
import type { ConfigText } from "./text.ts";

/** A configuration of a file. Paths in it are relative to `folder`. */
export interface ConfigFile {
  readonly file: string;
  readonly folder: string;
  readonly config: Config;
  /** `FILE:LINE:COLUMN message` of a fault that shows later. */
  readonly explain: (fault: ConfigFault) => string;
}

export type LoadConfig =
  | { readonly ok: true; readonly value: ConfigFile }
  /** `message` begins with `FILE:LINE:COLUMN`. */
  | { readonly ok: false; readonly message: string; readonly at: Position };

const formats: Readonly<Record<string, TextFormat | "module">> = {
  ".json": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
  ".toml": "toml",
  ".ts": "module",
  ".mts": "module",
  ".js": "module",
  ".mjs": "module",
};

/** Looked for where no configuration is named. */
const configNames: readonly string[] = ["json", "yaml", "yml", "toml", "ts"].map((end) => `keyhole.config.${end}`);

/**
 * The configuration of a folder, `undefined` where it has none.
 *
 * @throws TypeError for a folder with two: which one holds is not said
 */
export async function findConfig(folder: string): Promise<string | undefined> {
  const found: string[] = [];
  for (const name of configNames)
    if ((await stat(join(folder, name)).catch(() => undefined))?.isFile() === true) found.push(name);
  if (found.length > 1) throw new TypeError(`The folder has several configurations: ${found.join(", ")}. Keep one.`);
  return found[0];
}

/**
 * Reads and checks a configuration: JSON, YAML, TOML, or a module whose default export it is. A module is code of yours, which runs.
 *
 * @param file its path; the format follows from its end
 * @param base the folder that the path is relative to
 * @example
 * const loaded = await loadConfig("keyhole.config.yaml");
 * if (!loaded.ok) throw new Error(loaded.message);
 */
export async function loadConfig(file: string, base: string = process.cwd()): Promise<LoadConfig> {
  const path = resolve(base, file);
  const format = formats[/\.[^./\\]+$/.exec(path)?.[0] ?? ""];
  const refusedAt = (message: string, at: Position): LoadConfig => {
    return { ok: false, message: `${file}:${at.line}:${at.column} ${message}`.trimEnd(), at };
  };
  if (format === undefined) return refusedAt("The file is not .json, .yaml, .toml or .ts.", { line: 1, column: 1 });
  let text: string;
  try {
    text = await readBoundedText(path);
  } catch (error) {
    return refusedAt(`The file is unreadable: ${textOf(error)}`, { line: 1, column: 1 });
  }
  const read = format === "module" ? await importConfig(path, text) : readConfigText(text, format);
  if (!read.ok) return refusedAt(read.message, read.at);
  const folder = dirname(path);
  const own = readConfig(read.document, (named) => policyOf(resolve(folder, named)));
  const explain = ({ path: pointer, message, hint }: ConfigFault): string => {
    const { line, column } = read.locate(pointer);
    return `${file}:${line}:${column} ${message} ${hint}`.trimEnd();
  };
  if (own.ok) return { ok: true, value: { file, folder, config: own.config, explain } };
  return { ok: false, message: explain(own.fault), at: read.locate(own.fault.path) };
}

function readText(path: string): string {
  const bytes = readBoundedFile(path);
  if (!bytes) throw new Error(`${path} is no file.`);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** An unreadable policy is a refused policy. */
function policyOf(path: string): JsonValue {
  try {
    const read = readConfigText(readText(path), /\.ya?ml$/i.test(path) ? "yaml" : "json");
    return read.ok ? read.document : `${path}:${read.at.line} ${read.message}`;
  } catch (error) {
    return textOf(error);
  }
}

async function importConfig(path: string, text: string): Promise<ConfigText> {
  const { locate, twice } = locateLiteral(text);
  if (twice) return { ok: false, message: `The key ${JSON.stringify(twice.key)} stands twice.`, at: twice.at };
  try {
    const { mtimeMs } = await stat(path);
    const url = pathToFileURL(path);
    url.search = `?${String(mtimeMs).replace(".", "-")}`;
    const module = (await import(/* @vite-ignore */ url.href)) as { readonly default?: unknown };
    const plain = snapshot(module.default);
    if (plain.ok) return { ok: true, document: plain.value, locate };
    const message = `The default export is not plain JSON data: ${plain.error.message}.`;
    return { ok: false, message, at: locate(plain.error.path) };
  } catch (error) {
    return { ok: false, message: `The module does not load: ${textOf(error)}`, at: placeOfError(error, path, text) };
  }
}

/** Where the engine says that a module failed: in the first lines of its stack. */
function placeOfError(error: unknown, path: string, text: string): Position {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const file = pathToFileURL(path).href.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const [, line = "1", column = "1"] = new RegExp(`${file}(?:\\?[^:]*)?:(\\d+)(?::(\\d+))?`).exec(stack) ?? [];
  return { line: Math.min(Number(line), text.split("\n").length), column: Number(column) };
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
