import { verifyAudit } from "@keyhole/kernel/audit";
import { fromCloudEvent, toCloudEvent } from "@keyhole/worker-host/cloudevents";
import { describe, expect, it } from "vitest";
import { eventsOf, recordsOf } from "./log-of.ts";

const events = eventsOf(await recordsOf(20));
const source = "https://example.com/kernels/shop";
const sent = events.map((event) => JSON.parse(JSON.stringify(toCloudEvent(event, source))) as Record<string, unknown>);

describe("an event as a CloudEvent", () => {
  it("has what CloudEvents 1.0 asks for, and names that it allows", () => {
    for (const event of sent) {
      expect(event).toMatchObject({
        specversion: "1.0",
        source,
        type: expect.stringMatching(/^dev\.keyhole\.[a-z]+\.[a-z]+$/),
      });
      expect(event["id"]).toMatch(/./);
      expect(Date.parse(String(event["time"]))).not.toBeNaN();
      // Attribute names: lower-case letters and digits (CloudEvents 1.0.2, section 3.1.1).
      for (const name of Object.keys(event)) expect(name).toMatch(/^[a-z0-9]{1,20}$/);
      for (const [name, value] of Object.entries(event)) if (name !== "data") expect(value).toBeTypeOf("string");
    }
    expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
  });

  it("sorts by its sequence, and names call and trace where there are some", () => {
    const sequences = sent.map(({ sequence }) => String(sequence));
    expect(sequences).toEqual(sequences.toSorted());
    for (const [i, { callId, traceparent }] of events.entries()) {
      expect(sent[i]!["subject"]).toBe(callId ?? undefined);
      expect(sent[i]!["traceparent"]).toBe(traceparent ?? undefined);
    }
  });

  it("brings the log over whole", async () => {
    expect(await verifyAudit(sent.map(fromCloudEvent))).toMatchObject({ verdict: "unvouched", events: 20 });
  });

  it.each<[string, unknown]>([
    ["nothing", null],
    ["another version", { ...sent[1], specversion: "0.3" }],
    ["no data", { ...sent[1], data: null }],
    ["another id", { ...sent[1], id: "other" }],
    ["another type", { ...sent[1], type: "dev.keyhole.tool.completed" }],
    ["another place", { ...sent[1], sequence: "0000000000000009" }],
    ["another call", { ...sent[1], subject: "019aa0a0-0000-7000-8000-000000000000" }],
    ["a call where there is none", { ...sent[0], subject: "019aa0a0-0000-7000-8000-000000000000" }],
    ["another trace", { ...sent[1], traceparent: `00-${"1".repeat(32)}-${"1".repeat(16)}-01` }],
    ["another time", { ...sent[1], time: "2020-01-01T00:00:00.000Z" }],
  ])("is not read from %s", (_, foreign) => {
    expect(fromCloudEvent(foreign)).toBeUndefined();
  });

  it("has a source", () => {
    expect(() => toCloudEvent(events[0]!, "")).toThrow(TypeError);
  });
});
