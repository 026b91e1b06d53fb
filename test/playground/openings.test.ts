import type { AuditEvent, GrantRule, ToolSummary } from "@keyhole/kernel";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Boundary } from "../../packages/playground/src/run/Boundary.tsx";
import { openingsOf } from "../../packages/playground/src/run/openings.ts";

const digest = `blake3:${"0".repeat(64)}`;
const capabilities = [
  { kind: "net.read", hosts: ["*"] },
  { kind: "net.write", hosts: ["*"] },
];
const tool = { id: "http_fetch@1.0.0", manifest: { name: "http_fetch", capabilities } } as unknown as ToolSummary;

let seq = 0;
function event(type: string, payload: object, callId = "c"): AuditEvent {
  const rest = { v: 1, sessionId: null, traceparent: null, prev: digest, hash: digest, id: `e${seq}`, seq: seq++ };
  return { ...rest, time: "2026-11-20T12:00:00.000Z", type, callId, payload } as never;
}
const checked = (granted: readonly string[], missing: readonly string[] = []): AuditEvent =>
  event("capability.checked", { grantHash: digest, granted, missing });
const used = (kind: string, outcome: string, callId?: string): AuditEvent => {
  const hashes = { requestHash: digest, responseHash: digest };
  return event(
    "capability.used",
    { index: seq, kind, operation: "GET", target: "a.example/", outcome, ...hashes },
    callId,
  );
};

const statesOf = (events: readonly AuditEvent[]): Record<string, string> =>
  Object.fromEntries(openingsOf(tool, events, undefined).map(({ kind, state }) => [kind, state]));

describe("what a call could do, and what it did", () => {
  it.each<readonly [string, readonly AuditEvent[], object]>([
    ["nothing was decided", [], { "net.read": "unasked", "net.write": "unasked" }],
    ["one is missing", [checked(["net.read"], ["net.write"])], { "net.read": "open", "net.write": "closed" }],
    [
      "one was used, and one was not",
      [checked(["net.read", "net.write"]), used("net.read", "ok")],
      { "net.read": "used", "net.write": "open" },
    ],
    [
      "the wall stopped it",
      [checked(["net.read"]), used("net.read", "refused")],
      { "net.read": "stopped", "net.write": "closed" },
    ],
    [
      "it failed outside",
      [checked(["net.read"]), used("net.read", "failed")],
      { "net.read": "used", "net.write": "closed" },
    ],
    [
      "another call within it crossed",
      [checked(["net.read"]), used("net.read", "ok", "nested")],
      { "net.read": "open", "net.write": "closed" },
    ],
    [
      "it used what it did not declare",
      [checked([]), used("fs.read", "ok")],
      { "net.read": "closed", "net.write": "closed", "fs.read": "used" },
    ],
  ])("is told apart where %s", (_, events, states) => {
    expect(statesOf(events)).toEqual(states);
  });

  it("stands at the wall where the arguments name what no grant has, and the tool never ran", () => {
    const request = { kind: "net.read", target: "b.example/", reason: "not-granted" } as const;
    const [read, write] = openingsOf(tool, [checked(["net.read"])], undefined, [request]);
    expect(read?.state).toBe("stopped");
    expect(read?.stopped.map(({ target }) => target)).toEqual(["b.example/"]);
    expect(write?.state).toBe("closed");
  });

  it("says how far the grants of this tool reach, and of no other", () => {
    const grant = (name: string, host: string): GrantRule => ({
      tool: name,
      capability: { kind: "net.read", hosts: [host], methods: ["GET"] },
    });
    const grants = [grant("http_fetch", "a.example"), grant("fetch_url", "b.example")];
    const [read] = openingsOf(tool, [checked(["net.read"])], grants);
    expect(read?.scope).toContain("a.example");
    expect(read?.scope).not.toContain("b.example");
    expect(read?.isWide).toBe(false);
    expect(openingsOf(tool, [checked(["net.read"])], undefined)[0]?.isWide).toBe(true);
  });

  it("is drawn in words, too, and says how many uses it leaves out", () => {
    const events = [checked(["net.read"], ["net.write"]), ...Array.from({ length: 5 }, () => used("net.read", "ok"))];
    const html = renderToStaticMarkup(
      createElement(Boundary, { tool: "http_fetch", openings: openingsOf(tool, events, undefined) }),
    );
    for (const text of ["and 2 more", "not granted: closed", "everything else", "wished 2, granted 1, used 1"])
      expect(html).toContain(text);
  });
});
