import { describe, expect, it } from "vitest";
import { callsOf, type Find, groupOf } from "../../packages/playground/src/actions/find.ts";
import type { CallHead } from "../../packages/playground/src/session/call-head.ts";

const find = (text: string, hint = ""): Find => ({ id: text, text, hint, act: () => {} });
const tools = ["http_fetch", "list_directory", "fetch_url", "hash_file"].map((text) => find(text));

const head = (more: Partial<CallHead>): CallHead => ({
  ...({ tab: "t", place: "browser", address: null, startedAt: 0, code: "", callId: null, ownMs: 0 } as const),
  ...({ waitedMs: 0, openings: 0, crossings: 0, stopped: 0, bytes: 0, verdict: null, events: 0, logs: 0 } as const),
  ...({ id: "a", tool: "echo@1.0.0", what: "hello", state: "completed", hash: null, unkept: [] } as const),
  ...more,
});

describe("what Control and K finds", () => {
  it("has each word, in the text or beside it, and what begins with the text is first", () => {
    const names = (text: string): readonly string[] => groupOf("Tools", tools, text).finds.map(({ id }) => id);
    expect(names("fetch")).toEqual(["fetch_url", "http_fetch"]);
    expect(names(" URL  fetch ")).toEqual(["fetch_url"]);
    expect(names("nobody")).toEqual([]);
    expect(groupOf("Actions", [find("Timeline", "Alt 2")], "alt 2").count).toBe(1);
  });

  it("is bounded, and says how many there are", () => {
    const many = Array.from({ length: 5_000 }, (_, at) => find(`tool ${at}`));
    const { finds, count } = groupOf("Tools", many, "tool");
    expect([finds.length, count]).toEqual([8, 5_000]);
  });

  it("are calls by any text of the log, with hidden characters in sight", () => {
    const heads = [
      head({ id: "1", hash: `blake3:${"ab".repeat(32)}` }),
      head({ id: "2", what: `a\u202e${"b".repeat(10_000)}` }),
    ];
    const opened: string[] = [];
    const found = callsOf(heads, "abababab", (id) => opened.push(id));
    expect(found.count).toBe(1);
    found.finds[0]?.act();
    expect(opened).toEqual(["1"]);
    const [hostile] = callsOf(heads, "a\u202e", () => {}).finds;
    expect(hostile?.text).not.toContain("\u202e");
    expect(hostile?.text.length).toBeLessThan(400);
  });
});
