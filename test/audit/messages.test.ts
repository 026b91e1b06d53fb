import type { AuditEvent } from "@keyhole/kernel";
import { verifyAudit } from "@keyhole/kernel/audit";
import { describe, expect, it } from "vitest";
import { eventsOf, linesOf, recordsOf } from "./log-of.ts";

/*
 * The reasons of verifyAudit, each once. Other tests assert the place.
 */

const records = await recordsOf(8);
const events = eventsOf(records);
const lines = linesOf(records);
const inAlgorithm = (name: string): AuditEvent => ({ ...events[2]!, hash: events[2]!.hash.replace("blake3", name) });

describe("the reason for which a log is refused", () => {
  it.each<[string, readonly unknown[], string]>([
    ["with a changed event", events.with(2, { ...events[2]!, time: "x" }), "Event 2 was changed."],
    ["with a missing event", events.toSpliced(2, 1), "Event 2 is missing: event 3 came instead."],
    [
      "with an event of another log",
      events.with(2, { ...events[2]!, prev: events[4]!.hash }),
      "Event 2 does not follow the one before.",
    ],
    [
      "with a digest in another algorithm",
      events.with(2, inAlgorithm("sha256")),
      "The digest of event 2 is in another algorithm: sha256, not blake3.",
    ],
    [
      "with a digest in an unknown algorithm",
      events.with(2, inAlgorithm("md5")),
      "The digest of event 2 is in no known algorithm.",
    ],
    [
      "with a member named twice",
      lines.with(2, lines[2]!.replace("{", '{"type":"tool.failed",')),
      "It names a member twice.",
    ],
  ])("%s", async (_, log, reason) => {
    expect(await verifyAudit(log)).toMatchObject({ verdict: "broken", seq: 2, reason });
  });
});
