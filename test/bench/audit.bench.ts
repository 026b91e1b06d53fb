// The audit log: events a second appended to memory and to a file, verified from a file, and the memory that a million of them takes to verify.
import { mkdtemp, rm } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuditSink, createKernel, type EventRecord, blake3Hash, hashText, memorySink } from "@keyhole/kernel";
import { lines, verifyAudit } from "@keyhole/kernel/audit";
import { fileSink } from "@keyhole/worker-host/node/file-sink";

const events = 200_000;
const batchSize = 200;

/** Text of the usual size of an event, chained as the kernel does. */
function chainOf(count: number, from: EventRecord | undefined): EventRecord[] {
  const records: EventRecord[] = [];
  let prev = from?.hash ?? blake3Hash.zero;
  let seq = from ? from.seq + 1 : 0;
  for (let i = 0; i < count; i++, seq++) {
    const payload = `{"host":"inline","tool":"echo@1.0.0","toolHash":"${blake3Hash.zero}"}`;
    const body = `{"callId":"0190a5c0-0000-7000-8000-000000000000","id":"0190a5c0-0000-7000-8000-${String(seq).padStart(12, "0")}","payload":${payload},"prev":"${prev}","seq":${seq},"sessionId":"bench","time":"2026-01-01T00:00:00.000Z","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","type":"tool.started","v":1}`;
    prev = hashText(body);
    records.push({ seq, body, hash: prev });
  }
  return records;
}

async function fill(sink: AuditSink, count: number): Promise<void> {
  let last = (await sink.open()).last;
  for (let done = 0; done < count; done += batchSize) {
    const batch = chainOf(batchSize, last);
    await sink.append(batch);
    last = batch.at(-1);
  }
}

async function rate(name: string, count: number, work: () => Promise<void>, bar: number): Promise<void> {
  const startMs = performance.now();
  await work();
  const perSecond = (count / (performance.now() - startMs)) * 1_000;
  console.log(
    `${name.padEnd(36)} ${Math.round(perSecond).toLocaleString("en")} events/s (bar: ≥ ${bar.toLocaleString("en")})`,
  );
}

const folder = await mkdtemp(join(tmpdir(), "keyhole-bench-"));
try {
  await rate("sealed and appended to memory", events, () => fill(memorySink(), events), 100_000);
  const path = join(folder, "log.jsonl");
  const sink = fileSink(path);
  await rate(`to a file, fsync per ${batchSize}`, events, () => fill(sink, events), 20_000);
  await fill(sink, 1_000_000 - events);
  await sink.close();
  const before = process.memoryUsage().rss;
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  await rate(
    "verified, 1,000,000 from a file",
    1_000_000,
    async () => {
      const check = await verifyAudit(lines(createReadStream(path)));
      if (!check.ok || check.events !== 1_000_000) throw new Error(JSON.stringify(check));
    },
    200_000,
  );
  clearInterval(sampling);
  console.log(`memory on top while verifying          ${Math.round((most - before) / 1e6)} MB (bar: ≤ 100)`);
  const opened = fileSink(path);
  const startMs = performance.now();
  const kernel = await createKernel({ sink: opened });
  console.log(
    `a kernel opened on 1,000,000 events    ${((performance.now() - startMs) / 1_000).toFixed(1)} s, mode ${kernel.mode}`,
  );
  await kernel.close();
  await opened.close();
} finally {
  await rm(folder, { recursive: true });
}
