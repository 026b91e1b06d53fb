import type { IsolateHost } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { callWith, moduleOf, quietPort } from "../browser/open.ts";
import { type Realm, realms } from "./list.ts";
import tool from "./wakes.js?raw";

/** The hash of the tool that looks. */
export const wakesHash: string = moduleOf(tool).hash;

const ofStreams = ["a stream", "a sink", "a pair"].map(
  (what) => [`structuredClone of ${what}`, "DataCloneError"] as const,
);
const ofBytes = ["", ", by view"].map((how) => [`ReadableStream of bytes${how}`, "TypeError"] as const);

/** What ends in another way than by itself, and why that wakes nobody. */
const exceptions: Readonly<Record<Realm, readonly (readonly [way: string, how: string])[]>> = {
  // Node splits streams in ticks, which come before any task and end like microtasks.
  N: [
    ...ofStreams,
    ["ReadableStream, in two", "waits for a task"],
    ["Response of a stream, copied", "waits for a task"],
  ],
  C: ofStreams,
  F: ofStreams,
  W: [...ofStreams, ...ofBytes],
  D: ofStreams,
  I: [],
};

/** Holds that a tool goes on by microtasks alone, so that one which has let a task of its host come has come to rest. */
export function describeWakes(realm: Realm, makeHost: () => Promise<IsolateHost>): void {
  it(`in ${realms[realm]} nothing that a tool can begin ends in a task of the platform`, async () => {
    const host = await makeHost();
    const isolate = await host.open(moduleOf(tool));
    const outcome = await isolate.call(callWith(), quietPort);
    if (outcome.kind !== "returned" || outcome.output.form !== "json") throw new Error(JSON.stringify(outcome));
    const ended = Object.entries(JSON.parse(outcome.output.text) as Record<string, string>);
    expect(ended.length).toBeGreaterThan(15);
    expect(Object.fromEntries(ended.filter(([, how]) => how !== "ended"))).toEqual(
      Object.fromEntries(exceptions[realm]),
    );
    await host.close();
  });
}
