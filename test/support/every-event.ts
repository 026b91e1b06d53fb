import { type AuditSink, eventOf, type EventRecord } from "@keyhole/kernel";
import { eventSchema } from "@keyhole/kernel/event-schema";
import { compileSchema } from "@keyhole/kernel/schema";
import { afterEach } from "vitest";
import { AuditLog } from "../../packages/kernel/src/audit/log.ts";

/*
 * Loaded before every test file: whatever event any test makes a kernel write has to fit the published schema.
 */

const compiled = compileSchema(eventSchema);
if (!compiled.ok) throw new Error(compiled.error.message);
const { validator } = compiled;

let faults: string[] = [];
let checked = 0;

/** How many events of this file's tests were looked at. */
export const eventsChecked = (): number => checked;

function check(record: EventRecord): void {
  checked++;
  const event = eventOf(record);
  const valid = validator.validate(event);
  if (!valid.ok) faults.push(`${event.type}: ${valid.errors.map(({ message }) => message).join(" ")}`);
}

const open = AuditLog.open.bind(AuditLog);
AuditLog.open = (sink, clock, hash): Promise<AuditLog> => {
  const checked: AuditSink = {
    open: () => sink.open(),
    append(records) {
      for (const record of records) check(record);
      return sink.append(records);
    },
    read: (fromSeq, limit) => sink.read(fromSeq, limit),
  };
  return open(checked, clock, hash);
};

afterEach(() => {
  const found = faults;
  faults = [];
  if (found.length > 0) throw new Error(`Events that the published schema refuses: ${found.join("; ")}`);
});
