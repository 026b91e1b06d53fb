import type { AuditSink, EventRecord } from "@keyhole/kernel";

/** A sink whose operation number `failing`, from 0, fails: before it does anything, or when all is done. */
export function failingAt(sink: AuditSink, failing: number, moment: "before" | "after"): AuditSink {
  let operations = 0;
  const step = async <Result>(operation: () => Result | Promise<Result>): Promise<Result> => {
    const fails = operations++ === failing;
    if (fails && moment === "before") throw new Error("EIO");
    const result = await operation();
    if (fails) throw new Error("EIO");
    return result;
  };
  return {
    open: () => step(() => sink.open()),
    append: (records) => step(() => sink.append(records)),
    read: (fromSeq, limit) => step(() => sink.read(fromSeq, limit)),
  };
}

export interface Watched {
  readonly sink: AuditSink;
  /** Most batches that were being written at the same time. */
  mostAtOnce(): number;
  batches(): number;
  /** Events of a type that the sink said it has kept. */
  kept(type: string): number;
}

/** A sink that takes some turns for each batch, and what the kernel does meanwhile. */
export function slow(sink: AuditSink): Watched {
  let atOnce = 0;
  let mostAtOnce = 0;
  let batches = 0;
  const kept: EventRecord[] = [];
  return {
    sink: {
      open: () => sink.open(),
      async append(records) {
        mostAtOnce = Math.max(mostAtOnce, ++atOnce);
        batches++;
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
        await sink.append(records);
        kept.push(...records);
        atOnce--;
      },
      read: (fromSeq, limit) => sink.read(fromSeq, limit),
    },
    mostAtOnce: () => mostAtOnce,
    batches: () => batches,
    kept: (type) => kept.filter(({ body }) => body.includes(`"type":"${type}"`)).length,
  };
}
