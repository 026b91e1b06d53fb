import { eventOf, type EventRecord } from "@keyhole/kernel";
import { eventSchema } from "@keyhole/kernel/event-schema";
import { compileSchema } from "@keyhole/kernel/schema";
import { afterEach } from "vitest";
import { AuditLog } from "../../packages/kernel/src/audit/log.ts";

/*
 * Loaded before every test file: each event that a test makes a kernel write must fit the published schema.
 */

/** Shared by all files of a worker: a second wrapper around `AuditLog.open` would check each event twice. */
interface Watch {
  checked: number;
  faults: string[];
}

const key = Symbol.for("keyhole.test.every-event");
const shared = globalThis as { [key]?: Watch };

function startWatch(): Watch {
  const watch: Watch = { checked: 0, faults: [] };
  const compiled = compileSchema(eventSchema);
  if (!compiled.ok) throw new Error(compiled.error.message);
  const { validator } = compiled;

  const check = (record: EventRecord): void => {
    watch.checked++;
    const event = eventOf(record);
    const valid = validator.validate(event);
    if (!valid.ok) watch.faults.push(`${event.type}: ${valid.errors.map(({ message }) => message).join(" ")}`);
  };

  const open = AuditLog.open.bind(AuditLog);
  AuditLog.open = (parts): Promise<AuditLog> => {
    const { sink } = parts;
    const checked: typeof sink = {
      ...(sink.isVolatile !== undefined && { isVolatile: sink.isVolatile }),
      ...(sink.close && { close: () => sink.close?.() }),
      open: () => sink.open(),
      append(records) {
        for (const record of records) check(record);
        return sink.append(records);
      },
      read: (fromSeq, limit) => sink.read(fromSeq, limit),
      ...(sink.readCheckpoint && { readCheckpoint: () => sink.readCheckpoint!() }),
      ...(sink.writeCheckpoint && { writeCheckpoint: (text, seq) => sink.writeCheckpoint!(text, seq) }),
    };
    return open({ ...parts, sink: checked });
  };
  return watch;
}

const watch = (shared[key] ??= startWatch());

/** The number of events that this worker has checked so far. */
export const eventsChecked = (): number => watch.checked;

afterEach(() => {
  const found = watch.faults;
  watch.faults = [];
  if (found.length > 0) throw new Error(`Events that the published schema refuses: ${found.join("; ")}`);
});
