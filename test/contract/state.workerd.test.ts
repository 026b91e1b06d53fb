import { runInDurableObject } from "cloudflare:test";
import { sqlSink } from "@keyhole/edge";
import type { AuditSink } from "@keyhole/kernel";
import { bindings } from "../edge/bindings.ts";
import { describeState } from "./state.ts";

let objects = 0;

describeState("Durable Object SQLite", async () => {
  const stub = bindings.KERNEL.getByName(`contract-state-${objects++}`);
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
    kill: () => {},
  };
});
