import { runInDurableObject } from "cloudflare:test";
import { sqlSink } from "@keyhole/edge";
import type { AuditSink } from "@keyhole/kernel";
import { bindings } from "../edge/bindings.ts";
import { describeSink } from "./sink.ts";

let objects = 0;

describeSink("Durable Object SQLite", { keeps: true }, async () => {
  const stub = bindings.KERNEL.getByName(`contract-sink-${objects++}`);
  const inObject = <Result>(use: (storage: DurableObjectStorage) => Result | Promise<Result>): Promise<Result> =>
    runInDurableObject(stub, async (_, { storage }) => use(storage));
  await inObject(({ sql }) => sql.exec("DROP TABLE IF EXISTS audit; DROP TABLE IF EXISTS audit_checkpoint"));
  return {
    // Storage can only be used inside its object, so each operation goes there.
    open(): AuditSink {
      const sinkIn = <Result>(use: (sink: AuditSink) => Result | Promise<Result>): Promise<Result> =>
        inObject((storage) => use(sqlSink(storage)));
      return {
        open: () => sinkIn((sink) => sink.open()),
        append: (records) => sinkIn((sink) => sink.append(records)),
        read: (fromSeq, limit) => sinkIn((sink) => sink.read(fromSeq, limit)),
        readCheckpoint: () => sinkIn((sink) => sink.readCheckpoint?.()),
        writeCheckpoint: (text, seq) => sinkIn((sink) => sink.writeCheckpoint?.(text, seq)),
      };
    },
    close: () => {},
    tamper: (seq, line) =>
      inObject(({ sql }) => {
        const query = "SELECT seq, event FROM audit WHERE seq <= ? ORDER BY seq DESC LIMIT 1";
        const row = sql.exec<{ seq: number; event: string }>(query, seq).one();
        const lines = row.event.split("\n").toSpliced(seq - row.seq, 1, ...(line === undefined ? [] : [line]));
        if (lines.length === 0) sql.exec("DELETE FROM audit WHERE seq = ?", row.seq);
        else sql.exec("UPDATE audit SET event = ? WHERE seq = ?", lines.join("\n"), row.seq);
      }),
  };
});
