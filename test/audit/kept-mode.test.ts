import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AuditEvent,
  type AuditSink,
  canonicalJson,
  createKernel,
  eventOf,
  type JsonValue,
  memorySink,
  type Mode,
  modes,
} from "@keyhole/kernel";
import { fileSink } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import { rechained } from "../support/forged-log.ts";
import { echo } from "../support/kernel.ts";

const strictness = ["NORMAL", "ALERT", "DEGRADED", "RECOVERY", "LOCKDOWN"] as const satisfies readonly Mode[];
const pairs = modes.flatMap((kept) => modes.map((option) => [kept, option] as const));

/** A log in which the mode was set, and then again. */
async function logWith(...set: readonly Mode[]): Promise<AuditSink> {
  const sink = memorySink();
  const kernel = await createKernel({ sink });
  kernel.registerTrusted(echo);
  for (const mode of set) await kernel.setMode(mode, "a test");
  await kernel.close();
  return sink;
}

async function reopened(sink: AuditSink, mode?: Mode): Promise<Mode> {
  const kernel = await createKernel({ sink, ...(mode && { mode }) });
  await kernel.close();
  return kernel.mode;
}

/** The same log with other events: what a kernel of another version would have written. */
async function rewritten(sink: AuditSink, change: (event: AuditEvent) => unknown): Promise<AuditSink> {
  const events = (await sink.read(0, 1_000)).map(eventOf);
  const changed = rechained(events, (event) => change(event) as AuditEvent);
  const copy = memorySink();
  await copy.append(
    changed.map(({ hash, ...body }) => ({ seq: body.seq, body: canonicalJson(body as unknown as JsonValue), hash })),
  );
  return copy;
}

describe("the mode that a log keeps", () => {
  it.each(pairs)("%s with the option %s: the stricter one opens", async (kept, option) => {
    const stricter = strictness[Math.max(strictness.indexOf(kept), strictness.indexOf(option))];
    expect(await reopened(await logWith(kept), option)).toBe(stricter);
  });

  it("is none of the option: that holds for its kernel alone", async () => {
    const sink = await logWith();
    expect(await reopened(sink, "ALERT")).toBe("ALERT");
    expect(await reopened(sink)).toBe("NORMAL");
  });

  it.each<[Mode, readonly Mode[]]>([
    ["NORMAL", []],
    ["LOCKDOWN", ["LOCKDOWN"]],
    ["ALERT", ["LOCKDOWN", "ALERT"]],
    ["NORMAL", ["LOCKDOWN", "NORMAL"]],
  ])("is %s in a log without rows of modes that set %j", async (expected, set) => {
    const old = await rewritten(await logWith(...set), ({ state: _, ...event }: AuditEvent) => event);
    expect(await reopened(old)).toBe(expected);
  });

  it("that nobody can read locks the kernel", async () => {
    const strange = await rewritten(await logWith("ALERT"), ({ state: _, ...event }: AuditEvent) =>
      event.type === "mode.changed" ? { ...event, payload: { ...event.payload, mode: "CALM" } } : event,
    );
    expect(await reopened(strange)).toBe("LOCKDOWN");
  });

  it("is that of a process which was killed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keyhole-mode-"));
    const program = `
      import { createKernel } from "@keyhole/kernel";
      import { fileSink } from "@keyhole/worker-host/node/file-sink";
      const kernel = await createKernel({ sink: fileSink(process.argv[1]) });
      await kernel.setMode("LOCKDOWN", "a drill");
      console.log("locked");
      setInterval(() => {}, 1_000);`;
    const path = join(folder, "audit.jsonl");
    const child = spawn(
      process.execPath,
      ["--conditions=keyhole-source", "--input-type=module", "--eval", program, path],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const ended = once(child, "exit");
    expect(String(await Promise.race([once(child.stdout, "data"), ended]))).toContain("locked");
    child.kill("SIGKILL");
    await ended;
    expect(await reopened(fileSink(path))).toBe("LOCKDOWN");
    await rm(folder, { recursive: true });
  });
});
