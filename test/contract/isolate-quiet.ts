import type { IsolateCall, IsolateHost, IsolateOutcome, RegisteredTool } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { callWith, moduleOf, quietPort } from "../browser/open.ts";
import type { HostTraits } from "./isolate-subject.ts";
import { isolatesOf } from "./isolate-warm.ts";
import leftover from "./tools/leftover.js?raw";

/** The hash of the tool that leaves work behind. */
export const leftoverHash: string = moduleOf(leftover).hash;

export const leftoverTool = (): RegisteredTool => moduleOf(leftover);

/** How often the tool goes on. */
const ROUNDS = 50;

export const ways = ["promises", "responses", "bodies", "bodies of others", "streams", "copies"] as const;
type Way = (typeof ways)[number];

/** Every kind of outcome that a tool can have and be called again. */
export const endings = {
  returned: { kind: "returned" },
  threw: { kind: "threw" },
  refused: { kind: "refused" },
  unnormalizable: { kind: "unnormalizable" },
  "too large": { kind: "too-large" },
  told: { kind: "returned" },
  stream: { kind: "returned", output: { form: "stream" } },
  health: { kind: "refused" },
} satisfies Record<string, object>;

export function leaving(way: Way, ending: keyof typeof endings, rounds: number): IsolateCall {
  return callWith(
    { way, ending, rounds },
    {
      outputBytes: 1_000,
      ...(ending === "stream" && { outputKind: "stream" }),
      ...(ending === "health" && { asks: "health" }),
    },
  );
}

/** Nothing of a tool runs after its outcome: what it began has ended by then, or it has no outcome yet, or its isolate is gone. */
export function quietContract(makeHost: () => Promise<IsolateHost>, { preempts }: HostTraits): void {
  const isolates = isolatesOf(makeHost, leftoverTool);
  const isInline = (): boolean => !isolates.host.sources.includes("module");

  const pairs = Object.keys(endings).flatMap((ending, at) => [
    [ways[at % ways.length]!, ending as keyof typeof endings] as const,
  ]);
  it.each([...pairs, ...ways.map((way) => [way, "returned"] as const)])(
    "has done what it began with %s when its outcome is told: %s",
    async (way, ending) => {
      if (isInline()) return expect(isolates.host.preempts).toBe(false);
      return isolates.own(async (isolate) => {
        const controller = new AbortController();
        const heard: string[] = [];
        const port = {
          ...quietPort,
          signal: controller.signal,
          log: () => (heard.push("log"), controller.abort()),
          write: async () => (heard.push("write"), true),
        };
        expect(await isolate.call(leaving(way, ending, ROUNDS), port)).toMatchObject(endings[ending]);
        heard.length = 0;
        // An interpreter ends a machine that goes on for long.
        if (!isolate.alive) return;
        const done = await isolate.call(callWith({ ending: "tells" }), quietPort);
        expect(done).toMatchObject({ output: { text: String(ROUNDS) } });
        expect(heard).toEqual([]);
      });
    },
  );

  if (!preempts) return;
  describe("a tool that goes on without end", () => {
    it.each(ways)("by %s has no outcome, or no isolate", (way) =>
      isolates.own(async (isolate) => {
        const outcome = isolate.call(leaving(way, "returned", Infinity), quietPort);
        const ended = outcome.then(({ kind }: IsolateOutcome) => [kind, isolate.alive]);
        await isolates.own(async (other) =>
          expect(await other.call(callWith({ ending: "tells" }), quietPort)).toMatchObject({ output: { text: "0" } }),
        );
        isolate.terminate("deadline");
        expect([
          ["lost", false],
          ["returned", false],
        ]).toContainEqual(await ended);
      }),
    );
  });
}
