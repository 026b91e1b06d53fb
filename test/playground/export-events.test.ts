import type { AuditEvent } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { eventsFile } from "../../packages/playground/src/log/export-calls.ts";
import type { SessionStore } from "../../packages/playground/src/session/session-store.ts";
import { ioOf } from "../support/command-files.ts";
import { openKernel, toolOf } from "../support/kernel.ts";

type Call = readonly AuditEvent[];

/** A kernel whose first call waits while the second one runs, and then a third one. Between the last two it registers a tool. */
async function calls(): Promise<readonly [Call, Call, Call]> {
  const { kernel } = await openKernel();
  const released = Promise.withResolvers<number>();
  const begun = Promise.withResolvers<void>();
  kernel.registerTrusted(
    toolOf(
      ({ waits }: { readonly waits?: boolean }) => {
        begun.resolve();
        return waits === true ? released.promise : 1;
      },
      { input: { type: "object" } },
    ),
  );
  const call = async (input: object): Promise<Call> => {
    const events: AuditEvent[] = [];
    await kernel.call("subject", input, { onEvent: (event) => events.push(event) });
    return events;
  };
  const waiting = call({ waits: true });
  await begun.promise;
  const second = await call({});
  released.resolve(1);
  const first = await waiting;
  kernel.registerTrusted(toolOf(() => 1, { name: "other" }));
  return [first, second, await call({})];
}

/** The log of calls as the page lists it: the latest call first. */
async function saved(runs: readonly Call[]): Promise<{ readonly name: string; readonly text: string }> {
  const store = { read: async (id: string) => ({ events: runs[Number(id)] }) } as unknown as SessionStore;
  const { name, content } = await eventsFile(store, [...runs.keys()].map(String).toReversed());
  return { name, text: await content.text() };
}

async function verified(runs: readonly Call[]): Promise<{ readonly exitCode: number; readonly output: string }> {
  const { name, text } = await saved(runs);
  return runCommand(["verify", name], ioOf({ [name]: text }));
}

describe("the saved events of calls", () => {
  it("are one log in the order of its chain where the calls overlap", async () => {
    const [first, second] = await calls();
    const { text } = await saved([first, second]);
    const { logs } = JSON.parse(text) as { readonly logs: readonly (readonly AuditEvent[])[] };
    expect(logs).toHaveLength(1);
    const seqs = logs[0]!.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => seqs[0]! + index));
    expect(await verified([first, second])).toMatchObject({
      exitCode: 3,
      output: expect.stringContaining("none changed, missing or moved"),
    });
  });

  it("are never broken, whichever calls are saved, of one kernel or of two", async () => {
    const runs = [...(await calls()), ...(await calls())];
    for (let chosen = 1; chosen < 2 ** runs.length; chosen++) {
      const some = runs.filter((_, index) => (chosen >> index) % 2 === 1);
      const { exitCode, output } = await verified(some);
      expect(exitCode, output).toBe(3);
    }
    const { output } = await verified(runs);
    expect(output).toContain("4 of 4. ");
    expect(output).toContain("events between the logs, not checked");
  });

  it("are broken where one was changed, or its place in the call", async () => {
    const [first, second, third] = await calls();
    const changed = third.map((event) => ({ ...event, time: "2020-01-01T00:00:00.000Z" }));
    const elsewhere = third.map((event, index) => (index === 2 ? { ...event, prev: third[0]!.hash } : event));
    for (const forged of [changed, elsewhere])
      for (const runs of [[forged], [first, second, forged]])
        expect(await verified(runs)).toMatchObject({ exitCode: 1 });
  });
});
