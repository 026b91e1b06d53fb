import { createKernel, type IsolateHost, systemClock, type ToolPackage } from "@keyhole/kernel";
import { readRun, recordingHost, replay, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import weekly from "keyhole:./replay/weekly.ts";
import { entriesOf } from "./replay/last-week.ts";
import { registered } from "../support/registered.ts";

const tool: ToolPackage = weekly;

/** A run that was recorded on one host, replayed on this one; and one that is recorded here. */
export function describeReplay(name: string, open: (tool: ToolPackage) => Promise<IsolateHost>): void {
  describe(`a replay on ${name}`, () => {
    let host: IsolateHost;
    beforeAll(async () => {
      host = await open(tool);
    });
    afterAll(() => host.close());
    const tools = () => [registered(tool)];

    it("of last week's file gives the bytes of last week", async () => {
      const read = await readRun(writeRun({ entries: entriesOf(tool.hash) }).split("\n"));
      if (!read.ok) throw new Error(read.reason);
      expect(await replay(read.run, { host, tools: tools(), clock: systemClock })).toEqual({ ok: true, calls: 1 });
    });

    it("names the place of what was changed in it", async () => {
      const entries = entriesOf(tool.hash).map((entry): RunEntry =>
        entry.kind === "call" ? { ...entry, inputText: '{"week":48}' } : entry,
      );
      expect(await replay({ entries }, { host, tools: tools(), clock: systemClock })).toMatchObject({
        kind: "diverged",
        divergence: {
          seq: 1,
          difference: {
            path: "/arguments/url",
            expected: expect.stringContaining("week=47"),
            actual: expect.stringContaining("week=48"),
          },
        },
      });
    });

    it("of a run that was recorded here gives the same bytes too, and asks nobody", async () => {
      const entries: RunEntry[] = [];
      let asked = 0;
      const fetch = async (): Promise<Response> => {
        asked++;
        return new Response("12 sold");
      };
      const grants = (
        [
          { kind: "net.read", hosts: ["example.com"] },
          { kind: "fs.read", paths: ["**"] },
          { kind: "fs.write", paths: ["**"] },
        ] as const
      ).map((capability) => ({ tool: "weekly", capability }));
      const kernel = await createKernel({
        host: recordingHost(host, (entry) => entries.push(entry)),
        brokers: [netBroker({ fetch }), filesBroker(memoryStore())],
        policy: { version: "1", posture: "permissive", grants },
      });
      kernel.register(tool);
      const results = await Promise.all([47, 48].map((week) => kernel.call("weekly", { week })));
      expect(results.map(({ ok }) => ok)).toEqual([true, true]);
      expect(asked).toBe(2);
      const read = await readRun(writeRun({ entries }).split("\n"));
      if (!read.ok) throw new Error(read.reason);
      expect(await replay(read.run, { host, tools: tools(), clock: systemClock })).toEqual({ ok: true, calls: 2 });
      expect(asked).toBe(2);
    });
  });
}
