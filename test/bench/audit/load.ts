// What every sink is measured with, on every host: batches of one size, the log of real calls, and the log read back and verified.
import {
  type AuditSink,
  blake3Hash,
  createKernel,
  defineTool,
  type EventRecord,
  eventOf,
  hashText,
} from "@keyhole/kernel";
import { verifyAudit } from "@keyhole/kernel/audit";

/** As much as was done. */
export interface Load {
  readonly events: number;
  /** Times that the sink was given some. */
  readonly batches: number;
}

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

export async function fill(sink: AuditSink, events: number, batchSize: number): Promise<Load> {
  let last = (await sink.open()).last;
  for (let done = 0; done < events; done += batchSize) {
    const batch = chainOf(batchSize, last);
    await sink.append(batch);
    last = batch.at(-1);
  }
  return { events, batches: events / batchSize };
}

const echo = defineTool({
  name: "echo",
  version: "1.0.0",
  description: "Returns its input.",
  bounds: { callsPerHour: 1_000_000, concurrency: 64 },
  input: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
  output: { kind: "json" },
  execute: ({ message }) => message,
});

/** What a kernel writes for its calls, in the batches that it makes: what one write holds up goes into the next one together. */
export async function callsInto(sink: AuditSink, calls: number, atOnce: number): Promise<Load> {
  let [events, batches] = [0, 0];
  const counted: AuditSink = {
    open: () => sink.open(),
    append(records) {
      events += records.length;
      batches++;
      return sink.append(records);
    },
    read: (fromSeq, limit) => sink.read(fromSeq, limit),
  };
  const kernel = await createKernel({ sink: counted, policy: { version: "1", posture: "standard" } });
  kernel.registerTrusted(echo);
  let left = calls;
  const callAll = async (): Promise<void> => {
    while (left-- > 0) {
      const result = await kernel.call("echo", { message: "hello, world" }, { cache: false });
      if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, callAll));
  await kernel.close();
  return { events, batches };
}

/** Read a thousand at a time, as the HTTP API and the page do. */
async function* eventsOf(sink: AuditSink): AsyncGenerator<unknown, void, undefined> {
  for (let seq = 0; ;) {
    const records = await sink.read(seq, 1_000);
    if (records.length === 0) return;
    for (const record of records) yield eventOf(record);
    seq += records.length;
  }
}

export async function verified(sink: AuditSink, events: number): Promise<Load> {
  await sink.open();
  const check = await verifyAudit(eventsOf(sink));
  if (check.verdict !== "unvouched" || check.events !== events) throw new Error(JSON.stringify(check));
  return { events, batches: Math.ceil(events / 1_000) };
}
