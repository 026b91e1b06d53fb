import type { Broker, CapabilityReply } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";

export interface ChaoticBroker extends Broker {
  /** Requests that nobody answers, and whose call has not told the broker that it ended. */
  readonly forgotten: number;
}

/** Serves files as badly as a broker can: the path says how. */
export function chaoticBroker(draw: () => number): ChaoticBroker {
  const reply = { ok: true, value: null, body: new Uint8Array(1) } as const;
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const silent = new Set<AbortSignal>();
  const ways = new Map<string, (signal: AbortSignal) => Promise<CapabilityReply>>([
    ["late", () => sleep(draw() * 100).then(() => reply)],
    [
      "silent",
      (signal) => {
        silent.add(signal);
        return new Promise(() => {});
      },
    ],
    ["disk full", async () => ({ ok: false, error: { code: "UNAVAILABLE", message: "The disk is full.", hint: "" } })],
    ["unknown code", async () => ({ ok: false, error: { code: "NO_CODE", message: "\ud800", hint: "" } }) as never],
    ["rejects", () => Promise.reject(new Error("no"))],
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["nothing", async () => null as never],
    ["huge", async () => ({ ...reply, body: new Uint8Array(26_000_000) })],
  ]);
  return {
    families: [fsRead],
    needs: ({ arguments: { path } }) => ({ ok: true, needs: [{ kind: "fs.read", path: String(path) }] }),
    serve: ({ arguments: { path } }, { signal }) => ways.get(String(path))?.(signal) ?? Promise.resolve(reply),
    get forgotten() {
      return [...silent].filter(({ aborted }) => !aborted).length;
    },
  };
}
