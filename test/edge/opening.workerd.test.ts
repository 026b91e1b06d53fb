import { runInDurableObject } from "cloudflare:test";
import { sqlSink } from "@keyhole/edge";
import { expect, it } from "vitest";
import { eventsBehind, openLong, writeLong } from "../audit/long-log.ts";
import { sized } from "../support/size.ts";
import { bindings } from "./bindings.ts";

/* What is read when an object opens its log: each row is billed. */

let objects = 0;
function inObject<Result>(use: (storage: DurableObjectStorage) => Promise<Result>): Promise<Result> {
  const stub = bindings.KERNEL.getByName(`opening-${objects++}`);
  return runInDurableObject(stub, async (_, { storage }) => {
    storage.sql.exec("DROP TABLE IF EXISTS audit; DROP TABLE IF EXISTS audit_checkpoint");
    return use(storage);
  });
}

/** The same storage, which counts the rows that it reads. */
function counted(storage: DurableObjectStorage): {
  readonly storage: DurableObjectStorage;
  readonly rowsRead: () => number;
} {
  const cursors: { readonly rowsRead: number }[] = [];
  const exec = (query: string, ...values: unknown[]): unknown => {
    const cursor = storage.sql.exec(query, ...values);
    cursors.push(cursor);
    return cursor;
  };
  return {
    storage: { sql: { exec }, transactionSync: (use: () => void) => storage.transactionSync(use) } as never,
    rowsRead: () => cursors.reduce((sum, each) => sum + each.rowsRead, 0),
  };
}

it("reads as many rows of a long log as of a short one", async () => {
  const read: number[] = [];
  for (const events of sized([10_500, 20_500], [10_500, 100_500]))
    await inObject(async (storage) => {
      await writeLong(sqlSink(storage), events);
      const { storage: opened, rowsRead } = counted(storage);
      const { log, row } = await openLong(sqlSink(opened));
      expect([log.damage, row !== undefined, log.end.seq]).toEqual([null, true, events]);
      read.push(rowsRead());
    });
  for (const rows of read) expect(rows).toBeLessThan(eventsBehind + 20);
});
