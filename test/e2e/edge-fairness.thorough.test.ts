import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startTestEdge, type TestEdge } from "./edge/service.ts";

/*
 * What a tool that never ends costs the others. Each call of a victim has its moment, whether the one before has been answered or not: a service that stands still is seen in
 * full. The figures are for a reader; only that each call is served decides.
 */

let service: TestEdge;
// Of its own each: the tool of the one before is set aside.
beforeEach(async () => void (service = await startTestEdge({ version: "1", posture: "standard" })));
afterEach(() => service?.stop());

const lengthMs = 60_000;
const calls = 200;
const neighbour = { authorization: "Bearer neighbours-token" };

interface Served {
  readonly afterMs: number;
  readonly tookMs: number;
  readonly status: number;
}

/** Half of the calls in a session that is there already, half in new ones. */
function victim(headers: Readonly<Record<string, string>>): Promise<readonly Served[]> {
  const call = async (_: unknown, i: number): Promise<Served> => {
    const afterMs = (i * lengthMs) / calls;
    await delay(afterMs);
    const atMs = performance.now();
    const sessionId = i % 2 === 0 ? "warm" : crypto.randomUUID();
    const response = await service.post("/v1/tools/echo/calls", { input: { message: "hello" }, sessionId }, headers);
    await response.arrayBuffer();
    return { afterMs, tookMs: performance.now() - atMs, status: response.status };
  };
  return Promise.all(Array.from({ length: calls }, call));
}

/** Calls it again as soon as it was answered, for as long as it is let. */
function spinner(timeoutMs: number): {
  readonly end: () => Promise<void>;
  readonly seen: { spins: number; refused: number; asideAtMs: number | undefined };
} {
  const beganMs = performance.now();
  const seen = { spins: 0, refused: 0, asideAtMs: undefined as number | undefined };
  const client = new AbortController();
  const body = JSON.stringify({ input: { deed: "spin" }, sessionId: "spins", bounds: { timeoutMs } });
  const headers = { "content-type": "application/json" };
  const spinning = async (): Promise<void> => {
    while (!client.signal.aborted) {
      const init = { method: "POST", body, headers, signal: client.signal };
      const response = await service.send("/v1/tools/deed/calls", init).catch(() => undefined);
      const text = await response?.text().catch(() => "");
      if (text?.includes("TOOL_SET_ASIDE")) {
        seen.asideAtMs ??= performance.now() - beganMs;
        seen.refused++;
      } else seen.spins++;
    }
  };
  const spun = spinning();
  return {
    seen,
    end: () => {
      client.abort();
      return spun;
    },
  };
}

const figures = (name: string, served: readonly Served[]): string => {
  const tookMs = served.map((each) => each.tookMs).toSorted((one, other) => one - other);
  const at = (share: number): string => Math.round(tookMs[Math.ceil(share * tookMs.length) - 1]!).toString();
  return `${name} p50 ${at(0.5)} p99 ${at(0.99)} most ${at(1)} ms`;
};

it.each([1_000, 5_000, 30_000])(
  "serves every call beside a tool that spins for %d ms, again and again",
  async (timeoutMs) => {
    const kills = service.edge.sandboxKills;
    const { seen, end } = spinner(timeoutMs);
    const [others, own] = await Promise.all([victim(neighbour), victim({})]);
    await end();
    const before = (all: readonly Served[]): Served[] =>
      all.filter(({ afterMs }) => afterMs < (seen.asideAtMs ?? lengthMs));
    process.stdout.write(
      [
        `deadline ${timeoutMs} ms: ${seen.spins} spins, ${seen.refused} refused, set aside after ${Math.round(seen.asideAtMs ?? NaN)} ms, ${service.edge.sandboxKills - kills} kills`,
        figures("  another tenant:", others),
        figures("  the same tenant:", own),
        figures("  another tenant, until it is set aside:", before(others)),
        figures("  the same tenant, until it is set aside:", before(own)),
        "",
      ].join("\n"),
    );
    expect(new Set([...others, ...own].map(({ status }) => status))).toEqual(new Set([200]));
  },
);
