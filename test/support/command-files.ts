import type { CommandFiles } from "../../packages/worker-host/src/node/command.ts";

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
    text: async (path) => bytesOf(path).toString("utf8"),
    async *chunks(path) {
      const bytes = bytesOf(path);
      for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
    },
  };
}

/** Options as a person types them. */
export function typed(options: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, String(value)],
  );
}
