import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import type { CommandIo } from "./io.ts";

/** One run of the repeated work. */
export interface Round {
  /** Absolute paths, in which a change starts the next round. */
  readonly folders: ReadonlySet<string>;
  /** Files in them that the work itself, or a call, writes. */
  readonly ignored?: ReadonlySet<string>;
  /** The line of each subject. The command prints it where it differs from the round before. */
  readonly lines: ReadonlyMap<string, string>;
}

/** Editors write a file in several steps. */
const SETTLE_MS = 50;

/**
 * Repeats the work whenever a file in one of its folders changes, until Ctrl-C.
 *
 * @param onRound called after each round, when its lines are printed
 */
export async function watchRounds(
  work: () => Promise<Round>,
  io: CommandIo,
  onRound: () => void = () => {},
): Promise<void> {
  const watchers = new Map<string, FSWatcher>();
  let before: Round["lines"] = new Map();
  let ignored: ReadonlySet<string> = new Set();
  let change: () => void = () => {};
  const forget = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  try {
    while (!io.signal.aborted) {
      // Made before the reading of the files: a change meanwhile is one more round.
      const changed = new Promise<void>((resolve) => (change = resolve));
      const { folders, lines, ...round } = await work();
      ignored = round.ignored ?? ignored;
      for (const folder of folders) {
        if (watchers.has(folder)) continue;
        const watcher = watch(folder, (_, name) => {
          if (name === null || !ignored.has(join(folder, name))) change();
        });
        watcher.on("error", () => (forget(folder), change()));
        watchers.set(folder, watcher);
      }
      for (const [subject, line] of lines) if (before.get(subject) !== line) await io.print(`${line}\n`);
      before = lines;
      onRound();
      await Promise.race([changed, aborted(io.signal)]);
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    }
  } finally {
    for (const watcher of watchers.values()) watcher.close();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
