import { eventOf, type EventRecord, lineOf, memorySink } from "@keyhole/kernel";
import { echo, openKernel } from "../support/kernel.ts";

/** The records of a log with at least `count` events, cut to so many. */
export async function recordsOf(count: number): Promise<readonly EventRecord[]> {
  const sink = memorySink();
  const { kernel } = await openKernel({ sink });
  kernel.registerTrusted(echo);
  for (let i = 0; i < Math.ceil(count / 5); i++) await kernel.call("echo", { message: `${i}` });
  await kernel.close();
  return sink.read(0, count);
}

export const linesOf = (records: readonly EventRecord[]): string[] => records.map(lineOf);
export const eventsOf = (records: readonly EventRecord[]): ReturnType<typeof eventOf>[] => records.map(eventOf);
