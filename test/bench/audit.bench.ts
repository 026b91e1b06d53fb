// The audit log: events a second appended to memory and to a file, verified from a file, the memory that a million of them takes to verify,
// and what a file takes for the batches that a kernel makes.
import { mkdtemp, rm } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, memorySink } from "@keyhole/kernel";
import { lines, verifyAudit } from "@keyhole/kernel/audit";
import { fileSink } from "@keyhole/worker-host/node/file-sink";
import { fill } from "./audit/load.ts";
import { measure, report } from "./audit/rows.ts";

const events = 200_000;
const batchSize = 200;

async function rate(name: string, count: number, work: () => Promise<unknown>, bar: number): Promise<void> {
  const startMs = performance.now();
  await work();
  const perSecond = (count / (performance.now() - startMs)) * 1_000;
  console.log(
    `${name.padEnd(36)} ${Math.round(perSecond).toLocaleString("en")} events/s (bar: ≥ ${bar.toLocaleString("en")})`,
  );
}

const folder = await mkdtemp(join(tmpdir(), "keyhole-bench-"));
try {
  await rate("sealed and appended to memory", events, () => fill(memorySink(), events, batchSize), 100_000);
  const path = join(folder, "log.jsonl");
  const sink = fileSink(path);
  await rate(`to a file, fsync per ${batchSize}`, events, () => fill(sink, events, batchSize), 20_000);
  await fill(sink, 1_000_000 - events, batchSize);
  await sink.close();
  const before = process.memoryUsage().rss;
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  await rate(
    "verified, 1,000,000 from a file",
    1_000_000,
    async () => {
      const check = await verifyAudit(lines(createReadStream(path)));
      if (check.verdict !== "unvouched" || check.events !== 1_000_000) throw new Error(JSON.stringify(check));
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
  const memory = await measure(() => memorySink(1_000_000));
  report({ memory, file: await measure((log) => fileSink(join(folder, log))) });
} finally {
  await rm(folder, { recursive: true });
}
