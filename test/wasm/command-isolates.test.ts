import type { Isolate } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { CommandIsolates } from "../../packages/worker-host/src/wasm/command/isolates.ts";
import type { LoadedModule } from "../../packages/worker-host/src/protocol/message.ts";
import { settle } from "../support/fake-clock.ts";

const module = {} as LoadedModule;
const sessionOf = (signal: AbortSignal, caller = "ada") => ({ caller, outermostId: "call", signal });
const never = sessionOf(new AbortController().signal);

/** The isolates for commands, and what they opened; starts wait until they are let go. */
function opening(places: number, { waits = false } = {}) {
  const opened: { readonly name: string; terminated: boolean }[] = [];
  const starts: (() => void)[] = [];
  const isolates = new CommandIsolates(async (_module, name, isWanted) => {
    if (waits) await new Promise<void>((go) => starts.push(go));
    if (!isWanted()) throw new Error("Nobody wants it.");
    const record = { name, terminated: false };
    opened.push(record);
    return {
      terminate: () => void (record.terminated = true),
      get alive() {
        return !record.terminated;
      },
    } as unknown as Isolate;
  }, places);
  return { isolates, opened, starts };
}

describe("a run whose call ends while it waits for an isolate", () => {
  it("leaves the queue at once, and the isolate that was there stays", async () => {
    const { isolates, opened } = opening(1);
    const first = await isolates.take("a", module, never);
    const ended = new AbortController();
    const waits = isolates.take("b", module, sessionOf(ended.signal));
    ended.abort();
    await expect(waits).rejects.toMatchObject({ code: "ISOLATE_LOST" });
    first.giveBack();
    const again = await isolates.take("a", module, never);
    expect(again.isolate).toBe(first.isolate);
    expect(opened).toEqual([{ name: "a", terminated: false }]);
  });

  it("does not keep those behind it waiting", async () => {
    const { isolates, opened } = opening(1);
    const first = await isolates.take("a", module, never);
    const ended = new AbortController();
    const [leaves, stays] = [isolates.take("b", module, sessionOf(ended.signal)), isolates.take("c", module, never)];
    ended.abort();
    await expect(leaves).rejects.toMatchObject({ code: "ISOLATE_LOST" });
    first.giveBack();
    await stays;
    expect(opened.map(({ name }) => name)).toEqual(["a", "c"]);
  });

  it("does not start one whose turn to start comes later, and its place is free", async () => {
    const { isolates, opened, starts } = opening(1, { waits: true });
    const ended = new AbortController();
    const leaves = isolates.take("a", module, sessionOf(ended.signal));
    await settle();
    ended.abort();
    starts[0]!();
    await expect(leaves).rejects.toThrow("Nobody wants it.");
    const next = isolates.take("b", module, never);
    await settle();
    starts[1]!();
    await next;
    expect(opened.map(({ name }) => name)).toEqual(["b"]);
  });

  it("that had its turn before is given its isolate, and hands it on", async () => {
    const { isolates } = opening(1);
    const first = await isolates.take("a", module, never);
    const ended = new AbortController();
    const second = isolates.take("a", module, sessionOf(ended.signal));
    first.giveBack();
    ended.abort();
    (await second).giveBack();
    expect((await isolates.take("a", module, never)).isolate).toBe(first.isolate);
  });
});

it("a burst of one caller's commands delays another caller's by one run, and the oldest idle isolate makes room", async () => {
  const { isolates, opened } = opening(2);
  const ben = sessionOf(never.signal, "ben");
  const first = await isolates.take("a", module, never);
  const later = [isolates.take("a", module, never), isolates.take("a", module, never)];
  const other = await isolates.take("b", module, ben);
  const next = isolates.take("c", module, ben);
  other.giveBack();
  (await next).giveBack();
  first.giveBack();
  for (const lease of later) (await lease).giveBack();
  expect(opened).toEqual([
    { name: "a", terminated: false },
    { name: "b", terminated: true },
    { name: "c", terminated: false },
  ]);
});
