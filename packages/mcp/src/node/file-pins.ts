import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { hashJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from "@keyhole/kernel";
import type { ToolPin, ToolPinStore } from "@keyhole/kernel/foreign-tools";

/**
 * Keeps pins in a file, as JSON that a person can read and put under version control. The file is written whole or not at all. A file that cannot be read, or whose digests
 * do not fit, fails: it does not count as a first sight.
 *
 * @example
 * const pins = filePins("mcp-pins.json");
 */
export function filePins(path: string): ToolPinStore {
  let turn: Promise<unknown> = Promise.resolve();
  return {
    read: async (source) => (await sourcesIn(path)).get(source),
    write(source, pins) {
      const written = turn.then(async () => {
        const sources = new Map(await sourcesIn(path)).set(source, pins);
        const text = `${JSON.stringify({ version: 1, sources: Object.fromEntries(sources) }, null, 2)}\n`;
        const temporary = `${path}.${randomUUID()}`;
        await mkdir(dirname(path), { recursive: true });
        await writeFile(temporary, text, { mode: 0o600, flush: true });
        await rename(temporary, path);
      });
      turn = written.catch(() => {});
      return written;
    },
  };
}

async function sourcesIn(path: string): Promise<ReadonlyMap<string, readonly ToolPin[]>> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return new Map();
  const parsed = parseJson(text);
  const document = parsed.ok ? objectOf(parsed.value) : undefined;
  const sources = objectOf(document?.["sources"]);
  if (document?.["version"] !== 1 || !sources) throw new Error(`${path} is no file of pins.`);
  return new Map(
    Object.entries(sources).map(([source, pins]) => {
      if (!Array.isArray(pins)) throw new Error(`${path}: the pins of ${source} are no list.`);
      return [source, pins.map((pin: JsonValue) => pinOf(pin, `${path}: a pin of ${source}`))] as const;
    }),
  );
}

function pinOf(value: JsonValue, place: string): ToolPin {
  const { tool, hash, definition: given } = objectOf(value) ?? {};
  const definition = objectOf(given);
  if (typeof tool !== "string" || typeof hash !== "string" || !definition) throw new Error(`${place} is incomplete.`);
  if (hashJson(definition) !== hash)
    throw new Error(`${place}, ${JSON.stringify(tool)}, does not match the digest beside it.`);
  return { tool, hash, definition };
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
