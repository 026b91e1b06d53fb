import { hold, type Probe } from "./probes.ts";

/** One call per export that only browsers run. Elsewhere each of them rejects. */
export const browserProbes: Readonly<Record<string, Probe>> = {
  async "@keyhole/worker-host/browser"() {
    const { browserHost } = await import("@keyhole/worker-host/browser");
    const { echo } = await import("@keyhole/worker-host/tools");
    const { createKernel } = await import("@keyhole/kernel");
    const kernel = await createKernel({ host: await browserHost(), policy: { version: "1", posture: "standard" } });
    hold(kernel.register(echo).ok, "the package was refused");
    hold((await kernel.call("echo", { message: "hello" })).ok, "the call has no result");
    await kernel.close();
  },
  async "keyhole/browser"() {
    const { startKernel } = await import("keyhole/browser");
    const { echo } = await import("@keyhole/worker-host/tools");
    const policy = { version: "1", posture: "standard" };
    const kernel = await startKernel({ policy, tools: [echo], log: "memory" });
    hold((await kernel.call("echo", { message: "hello" })).ok, "the call has no result");
    await kernel.close();
  },
  async "@keyhole/worker-host/brokers/db-opfs"() {
    const { opfsDatabase } = await import("@keyhole/worker-host/brokers/db-opfs");
    const database = opfsDatabase({ name: "probe" });
    const limits = { rows: 1, bytes: 100, timeMs: 10_000 };
    const statement = { sql: "SELECT 1", params: [], kinds: ["select"] } as const;
    const answer = await database.query(statement, limits, new AbortController().signal);
    database.close();
    hold(answer.ok, answer.ok ? "" : answer.fault.message);
  },
  async "@keyhole/worker-host/brokers/files-opfs"() {
    const { opfsStore } = await import("@keyhole/worker-host/brokers/files-opfs");
    hold((await opfsStore().list("")).ok, "the store is broken");
  },
  async "@keyhole/worker-host/brokers/kv-indexeddb"() {
    const { indexedDbKv } = await import("@keyhole/worker-host/brokers/kv-indexeddb");
    hold((await indexedDbKv().put("a", Uint8Array.of(1))).ok, "the store is broken");
  },
  async "@keyhole/worker-host/sinks/indexeddb"() {
    const { indexedDbSink } = await import("@keyhole/worker-host/sinks/indexeddb");
    const { createKernel } = await import("@keyhole/kernel");
    const sink = indexedDbSink({ database: "probe" });
    const kernel = await createKernel({ sink });
    await kernel.call("nothing", {});
    await kernel.close();
    sink.close();
  },
};
