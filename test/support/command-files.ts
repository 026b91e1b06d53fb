import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandFiles, CommandIo } from "../../packages/keyhole/src/command/run-command.ts";

/** Files of a command that are only in memory: text or bytes as they are, anything else as JSON. */
export function filesOf(files: Readonly<Record<string, unknown>>): CommandFiles {
  const bytesOf = (path: string): Buffer => {
    if (!Object.hasOwn(files, path)) throw new Error(`ENOENT: ${path}`);
    const file = files[path];
    return Buffer.from(typeof file === "string" || file instanceof Uint8Array ? file : JSON.stringify(file));
  };
  return {
    write: async (path) => {
      throw new Error(`EACCES: ${path}`);
    },
    async *chunks(path) {
      const bytes = bytesOf(path);
      for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
    },
  };
}

/** What a command has of its process, with files in memory and nobody at a terminal. */
export function ioWith(files: CommandFiles): CommandIo {
  return {
    files,
    folder: "/nowhere",
    program: ["node", "keyhole.js"],
    columns: 80,
    signal: new AbortController().signal,
    print: () => {},
    note: () => {},
  };
}

/** A command in a folder of this machine, with what it noted and printed. */
export function ioIn(folder: string, more: Partial<CommandIo> = {}): CommandIo & { readonly notes: string[] } {
  const notes: string[] = [];
  const files: CommandFiles = {
    chunks: (path) => createReadStream(resolve(folder, path)),
    write: (path, bytes) => writeFile(resolve(folder, path), bytes),
  };
  return { ...ioWith(files), folder, note: (text) => void notes.push(text), ...more, notes };
}

export function ioOf(files: Readonly<Record<string, unknown>>): CommandIo {
  return ioWith(filesOf(files));
}

/** Options as a person types them. */
export function typed(options: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, String(value)],
  );
}
