import { checkPackage, type RegisteredTool, systemClock } from "@keyhole/kernel";
import { lines } from "@keyhole/kernel/audit";
import { readRun, type Replay, replay, type Run, RUN_LINE_BYTES } from "@keyhole/kernel/replay";
import { bytesText } from "../app/words.ts";
import { broughtPackages } from "../client/brought.ts";
import type { SessionStore } from "../session/session-store.ts";
import { runText } from "./run-text.ts";

/** A run file in memory: whole, or why not. */
export type OpenedRun =
  | { readonly ok: true; readonly name: string; readonly bytes: number; readonly run: Run; readonly hash: string }
  | { readonly ok: false; readonly name: string; readonly reason: string };

/** All entries are held while they are looked at. */
const mostBytes = 64 << 20;

/** Reads piece by piece, and never rejects: a file can be anything. */
export async function openRun(file: File): Promise<OpenedRun> {
  const { name, size } = file;
  if (size > mostBytes) {
    const reason = `The file has ${bytesText(size)}. This page reads at most ${bytesText(mostBytes)}: use keyhole replay.`;
    return { ok: false, name, reason };
  }
  try {
    const read = await readRun(lines(file.stream(), RUN_LINE_BYTES));
    if (!read.ok) return { ok: false, name, reason: `Line ${read.line}: ${read.reason}` };
    return { ok: true, name, bytes: size, run: read.run, hash: read.hash };
  } catch (error) {
    return { ok: false, name, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The record that the session has of a call. Never rejects. */
export async function openCall(store: SessionStore, id: string): Promise<OpenedRun> {
  const run = await store.read(id).catch(() => undefined);
  const name = run === undefined ? "This call" : `The call of ${run.tool.id}`;
  const text = run && (await runText(run));
  if (text !== undefined) return openRun(new File([text], `${run?.tool.manifest.name ?? "call"}.keyhole`));
  const reason = "The page has no record of it: nothing ran in an isolate of the page, or the record is too large.";
  return { ok: false, name, reason };
}

/** Tools of this page that a run names. */
export interface KnownTools {
  readonly tools: readonly RegisteredTool[];
  /** `name@version` of those that the page does not have with this hash. */
  readonly missing: readonly string[];
}

export async function toolsOf({ entries }: Run): Promise<KnownTools> {
  const wanted = new Map(
    entries.flatMap((entry) =>
      entry.kind === "call" ? [[entry.packageHash ?? entry.toolHash, entry.tool] as const] : [],
    ),
  );
  // Not part of a page without a replay.
  const [{ builtinTools, runCode }, { exampleTools }] = await Promise.all([
    import("@keyhole/worker-host/tools"),
    import("../example-tools.ts"),
  ]);
  const tools = [...builtinTools, runCode, ...exampleTools, ...broughtPackages()]
    .filter(({ hash }) => wanted.has(hash))
    .map((each) => checkPackage(each))
    .flatMap((checked) => (checked.ok ? [checked.value] : []));
  for (const { hash } of tools) wanted.delete(hash);
  return { tools, missing: [...new Set(wanted.values())] };
}

/** Executes the run in isolates of this page. No request leaves them: the run answers. */
export async function execute(run: Run, tools: readonly RegisteredTool[]): Promise<Replay> {
  const { browserHost } = await import("@keyhole/worker-host/browser");
  const host = await browserHost();
  try {
    return await replay(run, { host, tools, clock: systemClock });
  } finally {
    await host.close?.();
  }
}
