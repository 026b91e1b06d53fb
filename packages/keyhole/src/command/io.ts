import type { EvidenceVerdict } from "@keyhole/kernel/audit";
import type { AskLine } from "@keyhole/worker-host/node/terminal";
// Not from the complete kernel: `keyhole --help` loads none of it.
import { visibleLine as visible } from "@keyhole/kernel/visible";

/**
 * | code | of `verify` | of the other verbs |
 * | --- | --- | --- |
 * | 0 | verified: whole, and signed by a key that was given | done, and nothing is wrong |
 * | 1 | broken | something is wrong: a call was refused, a file cannot be packed, a decision changed |
 * | 2 | cannot tell | not started: a mistyped command, a file that cannot be read, a Node that is too old |
 * | 3 | intact, but unvouched | `policy diff`: a dimension was not gone through whole |
 * | 130 | interrupted | interrupted |
 * | 143, 129 | ended by SIGTERM, by SIGHUP | the same |
 */
export type ExitCode = 0 | 1 | 2 | 3 | 129 | 130 | 143;

export interface CommandResult {
  readonly exitCode: ExitCode;
  /** For standard output: with `--json` this is JSON and nothing else. */
  readonly output: string;
  /** For standard error: the reason why the command did nothing. */
  readonly errorOutput?: string;
}

/** The part of the process that a command uses. */
export interface CommandIo {
  readonly files: CommandFiles;
  /** The working directory. */
  readonly folder: string;
  /** The root of the packer, as typed. */
  readonly root?: string | undefined;
  /** How a program starts this command: Node and a file. */
  readonly program: readonly [string, string];
  /** Of the terminal; 80 where there is none. */
  readonly columns: number;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Standard output, at once: the answer. Of a verb that serves these are its addresses, and `ready`. */
  print(text: string): void | Promise<void>;
  /** Standard error, at once: progress, faults, and words for the person who is asked. */
  note(text: string): void;
  /** Asks the person at the terminal. Absent where there is no terminal. */
  readonly ask?: AskLine;
}

/** The input and output of a command. Paths are those that the person typed. */
export interface CommandFiles {
  /** In chunks: a log can be larger than memory. */
  chunks(path: string): AsyncIterable<Uint8Array>;
  write(path: string, bytes: Uint8Array): Promise<void>;
}

export type CommandOptions = Readonly<Record<string, unknown>>;

/** A mistake of the person that prevents a check. */
export class Unusable extends Error {}

/** The exit codes of `keyhole verify`. */
export const exitCodes: Readonly<Record<EvidenceVerdict, CommandResult["exitCode"]>> = {
  verified: 0,
  broken: 1,
  inconclusive: 2,
  unvouched: 3,
};

export const marks = { passed: "✓", failed: "✗", skipped: "–", unvouched: "~" } as const;

export { visible };

/** A word that a person copies into a shell: in quotes where the shell would split or expand it. */
export function shellWord(text: string): string {
  const shown = visible(text);
  return /^[\w@.,/\\:+-]+$/.test(shown) ? shown : `"${shown.replaceAll(/["$`]/g, "\\$&")}"`;
}

/** `1 event`, `2 events`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The most bytes in one read. Logs and runs can be larger: the command reads them line by line. */
const WHOLE_FILE_BYTES = 256 * 1_048_576;

/** @throws {Unusable} for a file that cannot be read, or is larger than 256 MiB */
export async function readBytes(path: string, files: CommandFiles): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await gathered(files.chunks(path), path);
  } catch (error) {
    throw error instanceof Unusable ? error : unreadable(path, error);
  }
}

export async function readText(path: string, files: CommandFiles): Promise<string> {
  return textOf(await readBytes(path, files));
}

/** UTF-8, as Node reads a file. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** @throws {Unusable} for more than 256 MiB, before they are in memory */
export async function gathered(chunks: AsyncIterable<Uint8Array>, path: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let byteLength = 0;
  for await (const part of chunks) {
    byteLength += part.length;
    if (byteLength > WHOLE_FILE_BYTES)
      throw new Unusable(`${visible(path)} is larger than ${WHOLE_FILE_BYTES.toLocaleString("en")} bytes.`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

export function unreadable(path: string, error: unknown): Unusable {
  const why = error instanceof Error ? visible(error.message) : "it failed";
  return new Unusable(`${visible(path)} cannot be read: ${why}`, { cause: error });
}
