import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { terminalTypes, verifyChain } from "@keyhole/kernel";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomFrom } from "../support/random.ts";
import { startTestEdge, type TestEdge } from "./edge/service.ts";
import { killed, parts } from "./serve-recovery.ts";

/*
 * A hostile tool, a hostile caller and `kill -9` at once, for KEYHOLE_SOAK_MINUTES (default 2). The figures are for a reader. The end decides: every process runs, a neighbour is
 * served, no descriptor is left, and the log has one chain with one end for each call.
 */

const lengthMs = 60_000 * Number(process.env["KEYHOLE_SOAK_MINUTES"] ?? 2);

let service: TestEdge;
beforeAll(async () => void (service = await startTestEdge({ version: "1", posture: "standard" })));
afterAll(() => service?.stop());

const neighbour = { authorization: "Bearer neighbours-token" };
const deeds = ["spin", "hang", "log and hang", "count", "log", "spin"];
const bodies = ["{", "[]", '{"input":{"deed":1}}', `{"input":${"[".repeat(5_000)}`, `{"__proto__":{"a":1}}`, "\u0000"];
const paths = [
  "/v1/tools/deed/calls",
  "/v1/tools/%2e%2e/calls",
  "/v1/tools/no-such/calls",
  "//v1/calls",
  "/v1/audit?from=-1",
];

const runtimes = (): number[] =>
  [service.edge.pids.kernel, ...service.edge.pids.sandboxes].filter((pid) => pid !== undefined);
const descriptors = (): number[] => runtimes().map((pid) => readdirSync(`/proc/${pid}/fd`).length);
const residentMib = (): number[] =>
  runtimes().map((pid) =>
    Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024),
  );

async function status(path: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const init = { method: "POST", body, headers: { "content-type": "application/json", ...headers } };
  const response = await service.send(path, { ...init, signal: AbortSignal.timeout(60_000) }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => {});
  return response?.status ?? 0;
}

const echo = (sessionId: string): Promise<number> =>
  status("/v1/tools/echo/calls", JSON.stringify({ input: { message: "hello" }, sessionId }), neighbour);

const count = (of: Map<number, number>, key: number): void => void of.set(key, (of.get(key) ?? 0) + 1);

/** Calls that break every rule, one after the other, until the end. */
async function attack(random: () => number, isOver: () => boolean): Promise<number> {
  let calls = 0;
  for (; !isOver(); calls++) {
    const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
    const sessionId = `hostile ${calls % 7}`;
    const timeoutMs = 300 + Math.floor(random() * 3_000);
    if (random() < 0.7)
      await status(
        "/v1/tools/deed/calls",
        JSON.stringify({ input: { deed: one(deeds) }, sessionId, bounds: { timeoutMs } }),
      );
    else await status(one(paths), one(bodies), random() < 0.5 ? { authorization: `Bearer ${calls}` } : {});
    // A tool that is set aside answers at once: the callers are to stay fewer than the service can serve.
    await delay(20);
  }
  return calls;
}

it(
  "is whole after a hostile tool, a hostile caller and kills together",
  async () => {
    expect(await echo("first")).toBe(200);
    const failure = service.edge.failed.then((reason) => {
      throw new Error(reason);
    });
    const before = descriptors();
    const untilMs = performance.now() + lengthMs;
    const isOver = (): boolean => performance.now() > untilMs;
    const random = randomFrom(11);
    const statuses = new Map<number, number>();
    const tookMs: number[] = [];
    const victim = async (): Promise<void> => {
      for (let i = 0; !isOver(); i++) {
        const atMs = performance.now();
        const served = await echo(i % 2 === 0 ? "warm" : crypto.randomUUID());
        count(statuses, served);
        if (served === 200) tookMs.push(performance.now() - atMs);
        await delay(250);
      }
    };
    let kills = 0;
    const killer = async (): Promise<void> => {
      for (; !isOver(); kills++) {
        await delay(5_000 + random() * 10_000);
        await killed(service, parts[kills % parts.length]!);
      }
    };
    const attacks = Promise.all([1, 2, 3, 4].map((seed) => attack(randomFrom(seed), isOver)));
    const [hostile] = await Promise.race([Promise.all([attacks, victim(), killer()]), failure]);

    await expect.poll(() => echo("after"), { timeout: 60_000 }).toBe(200);
    await expect.poll(() => runtimes().length, { timeout: 60_000 }).toBe(before.length);
    await delay(10_000);
    tookMs.sort((one, other) => one - other);
    const at = (share: number): number => Math.round(tookMs[Math.ceil(share * tookMs.length) - 1]!);
    const events = await service.events();
    process.stdout.write(
      [
        `${lengthMs / 60_000} min: ${hostile.reduce((sum, calls) => sum + calls, 0)} hostile calls, ${kills} kills, ${service.edge.sandboxKills} sandboxes ended by the watchdog`,
        `  neighbour: ${JSON.stringify(Object.fromEntries(statuses))}, served p50 ${at(0.5)} p99 ${at(0.99)} most ${at(1)} ms`,
        `  descriptors ${before.join(" ")} -> ${descriptors().join(" ")}, resident ${residentMib().join(" ")} MiB, ${events.length} events`,
        "",
      ].join("\n"),
    );
    for (const [i, number] of descriptors().entries()) expect(number).toBeLessThanOrEqual(before[i]! + 20);
    // A kill, or a full queue, may end a call of the neighbour; nothing else may.
    expect([...statuses.keys()].filter((status) => ![0, 200, 429, 502, 503, 504].includes(status))).toEqual([]);
    expect(verifyChain(events)).toMatchObject({ ok: true });
    const ends = new Map<string, number>();
    for (const { callId, type } of events)
      if (callId !== null) ends.set(callId, (ends.get(callId) ?? 0) + (terminalTypes.includes(type) ? 1 : 0));
    expect([...ends.values()].filter((number) => number !== 1)).toEqual([]);
  },
  lengthMs + 300_000,
);
