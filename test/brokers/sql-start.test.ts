import { expect, it, vi } from "vitest";
import { type Engine, type EngineEvents, remoteDatabase } from "../../packages/worker-host/src/brokers/sql/remote.ts";

const statement = { sql: "SELECT 1", params: [], kinds: ["select"] } as const;
const limits = { rows: 1, bytes: 100, timeMs: 1_000 };
const { signal } = new AbortController();
const silent = (): Engine => ({ send: () => {}, end: () => {} });

const query = (start: (events: EngineEvents) => Engine, startTimeoutMs?: number) =>
  remoteDatabase(start, { graceMs: 0, endsWithCall: true, startTimeoutMs }).query(statement, limits, signal);

const broken = (message: string): object => ({ ok: false, fault: { reason: "broken", message } });

it.each<[string, number | undefined, number]>([
  ["30 s by default", undefined, 30_000],
  ["the host's own deadline", 50, 50],
])("a database whose engine never answers fails after %s, and names the cause", async (_, startTimeoutMs, expected) => {
  vi.useFakeTimers();
  try {
    const answered = vi.fn<() => void>();
    const answer = query(silent, startTimeoutMs).then((given) => (answered(), given));
    await vi.advanceTimersByTimeAsync(expected - 1);
    expect(answered).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toEqual(broken(`its engine did not start within ${expected} ms`));
  } finally {
    vi.useRealTimers();
  }
});

it("a database whose engine cannot be started, or ends while it starts, names the cause", async () => {
  const refuses = (): Engine => {
    throw new Error("no more processes");
  };
  expect(await query(refuses)).toEqual(broken("its engine does not start"));
  const ends = ({ ended }: EngineEvents): Engine => (queueMicrotask(() => ended()), silent());
  expect(await query(ends)).toEqual(broken("its engine ended while it started"));
});
