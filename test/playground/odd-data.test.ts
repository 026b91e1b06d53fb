import type { AuditEvent, AuditType, CallResult, ToolSummary } from "@keyhole/kernel";
import { payloadSchemas } from "@keyhole/kernel/event-schema";
import * as fc from "fast-check";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { ProofView } from "../../packages/playground/src/run/ProofView.tsx";
import { reduceRun, startRun, type ActiveRun } from "../../packages/playground/src/run/run-state.ts";
import { Timeline } from "../../packages/playground/src/run/Timeline.tsx";

const types = Object.keys(payloadSchemas) as AuditType[];

function event(type: string, payload: unknown, seq = 1): AuditEvent {
  const rest = { v: 1, sessionId: null, traceparent: null, prev: "blake3:0", hash: "blake3:1" };
  return { ...rest, seq, id: `e${seq}`, time: "2026-11-20T12:00:00.000Z", type, callId: "c", payload } as never;
}

const timeline = (events: readonly AuditEvent[]): string =>
  renderToStaticMarkup(createElement(Timeline, { events, isRunning: false }));

function doneRun(proof: unknown, events: readonly AuditEvent[]): ActiveRun {
  const tool = { id: "echo@1.0.0" } as ToolSummary;
  const start = startRun({ tool, input: {}, startedAt: 0 }, undefined);
  const seen = reduceRun(start, { type: "events", events });
  const result = { ok: true, proof } as unknown as CallResult;
  return reduceRun(seen, { type: "done", result, file: undefined });
}

const unknown = "This page does not know the form of this event.";
const members = types.flatMap((type) => Object.keys(payloadSchemas[type]["properties"] as object));

describe("an event of another form than its type's", () => {
  it.each(types)("is shown with a warning: %s", (type) => {
    const isOpen = (payloadSchemas[type]["required"] as readonly string[]).length === 0;
    expect(timeline([event(type, {})])).toContain(isOpen ? type : unknown);
    expect(timeline([event(type, Object.fromEntries(members.map((name) => [name, { a: 1 }])))])).toContain(unknown);
  });

  it("never ends the list of events, whatever it holds", () => {
    const payload = fc.dictionary(fc.constantFrom(...members), fc.jsonValue(), { maxKeys: 12 });
    fc.assert(
      fc.property(fc.constantFrom(...types), payload, (type, each) => {
        expect(timeline([event("call.invoked", {}, 0), event(type, each)])).toContain(type);
      }),
    );
  });

  it.each(["tool.hummed", "__proto__", "constructor", "toString", ""])(
    "may be of a type that is unknown: %j",
    (type) => {
      expect(timeline([event(type, { reason: "x" })])).toContain(unknown);
    },
  );

  it("may have a member that a later version added", () => {
    const payload = { tool: "echo@1.0.0", toolHash: `blake3:${"0".repeat(64)}`, host: "page", region: "eu" };
    expect(timeline([event("tool.started", payload)])).toContain("on page");
  });

  it("may have a time that is none, and a text of megabytes", () => {
    const huge = { approvalId: "a", argsHash: `blake3:${"0".repeat(64)}`, reason: "x".repeat(1 << 22) };
    const asked = event("approval.requested", { ...huge, expiresAt: "2026-11-20T12:00:00.000Z" });
    const html = timeline([{ ...asked, time: "soon" }]);
    expect(html).toContain("no time");
    expect(html.length).toBeLessThan(2_000);
  });
});

describe("a proof of another form", () => {
  const proof = (foreign: unknown, events: readonly AuditEvent[] = []): string =>
    renderToStaticMarkup(createElement(ProofView, { run: doneRun(foreign, events), governance: undefined }));

  it.each([{ decision: "allow" }, {}, [], { decision: { html: "<b>" }, determining: null }, "text"])(
    "is shown as it was sent: %j",
    (foreign) => {
      expect(proof(foreign)).toContain("This page does not know the form of the proof");
    },
  );

  it("may be in an event that has another form", () => {
    const decided = event("policy.decided", { proof: { decision: "allow" } });
    expect(proof(undefined, [decided])).toContain("Nothing was decided");
  });
});
