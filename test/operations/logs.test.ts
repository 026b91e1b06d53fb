import { describe, expect, it } from "vitest";
import {
  fileEntries,
  journalEntries,
  lastOf,
  type LogEntry,
  macEntries,
  since,
} from "../../packages/worker-host/src/tools/operations/log-entries.ts";

const journal = (fields: object): LogEntry | undefined =>
  journalEntries(`${JSON.stringify({ __REALTIME_TIMESTAMP: "1795460400123456", ...fields })}\n`)[0];

describe("the journal", () => {
  it("is read field by field", () => {
    expect(journal({ MESSAGE: "started", PRIORITY: "4", _SYSTEMD_UNIT: "nginx.service", _PID: "42" })).toEqual({
      time: "2026-11-23T19:00:00.123Z",
      priority: "warning",
      unit: "nginx.service",
      pid: 42,
      message: "started",
    });
  });

  it.each([
    ["a message in bytes, no UTF-8 in it", { MESSAGE: [97, 255, 27, 91, 109] }, "a\ufffd\\u001b[m"],
    ["a field that occurs twice", { MESSAGE: ["first", "second"] }, "first"],
    ["a message of many lines", { MESSAGE: "a\nb\r\nc" }, "a\\nb\\r\\nc"],
    ["a message that is too long for the journal", { MESSAGE: null }, "(longer than the journal shows)"],
    ["members that no object should have", JSON.parse('{"MESSAGE":"a","__proto__":{"PRIORITY":"0"}}') as object, "a"],
  ])("shows %s", (_, fields, message) => {
    expect(journal(fields)).toMatchObject({ message, priority: null, unit: null, pid: null });
  });

  it("says what it does not know", () => {
    const nothing = { time: null, priority: null, unit: null, pid: null };
    expect(journal({ __REALTIME_TIMESTAMP: "9e99", PRIORITY: "9", _PID: "-1", MESSAGE: "a" })).toEqual({
      ...nothing,
      message: "a",
    });
    expect(journal({ __REALTIME_TIMESTAMP: "x", _PID: {}, MESSAGE: "a" })).toMatchObject(nothing);
  });

  it("leaves out what is no entry", () => {
    expect(journalEntries('-- No entries --\n{"MESSAGE":\nnull\n3\n')).toEqual([]);
  });

  it("cuts a line of a megabyte", () => {
    const message = journal({ MESSAGE: "\u001b".repeat(1_048_576) })?.message;
    expect(message).toBe(`${"\\u001b".repeat(2_000)}…`);
  });
});

it("macOS: an entry is read, the summary at the end is none", () => {
  const line = {
    timestamp: "2026-11-23 20:00:00.500000+0100",
    messageType: "Error",
    processImagePath: "/usr/libexec/logd",
    processID: 99,
    eventMessage: "failed",
  };
  expect(macEntries(`${JSON.stringify(line)}\n{"count":1,"finished":1}\n`)).toEqual([
    { time: "2026-11-23T19:00:00.500Z", priority: "err", unit: "logd", pid: 99, message: "failed" },
  ]);
});

describe("a file", () => {
  const times = (text: string): readonly (string | null)[] => fileEntries(text, false).map(({ time }) => time);

  it("has the times that say their zone", () => {
    expect(
      times(
        [
          "2026-11-23T19:00:00Z a",
          "2026-11-23T20:00:00.123456+01:00 host b",
          "[2026-11-23 19:00:00,500 +0000]",
          "2026-11-23 19:00:00+0000 c",
          "2026-11-23 19:00:00 no zone",
          "2026-99-99T99:99:99Z no time",
          "Nov 23 19:00:00 no year",
        ].join("\n"),
      ),
    ).toEqual([
      "2026-11-23T19:00:00.000Z",
      "2026-11-23T19:00:00.123Z",
      null,
      "2026-11-23T19:00:00.000Z",
      null,
      null,
      null,
    ]);
  });

  it("begins behind a line that was cut, and ends with its last line", () => {
    expect(fileEntries("rest\na\r\n\nb", true).map(({ message }) => message)).toEqual(["a", "", "b"]);
    expect(fileEntries("a\n", false)).toHaveLength(1);
    expect(fileEntries("", false)).toEqual([]);
  });

  it("keeps the lines of a stack with the entry before them", () => {
    const entries = fileEntries(
      "  lost\n2026-11-23T18:00:00Z old\n  at old\n2026-11-23T19:00:00Z new\n  at new\n",
      false,
    );
    const recent = since(entries, Date.parse("2026-11-23T19:00:00Z"));
    expect(recent.map(({ message }) => message)).toEqual(["2026-11-23T19:00:00Z new", "  at new"]);
  });
});

describe("an answer", () => {
  const entries = fileEntries("a\nb\nc\n", false);
  const messages = (limit: number, characters: number): readonly string[] =>
    lastOf(entries, limit, characters).entries.map(({ message }) => message);

  it("has the newest entries, oldest first", () => {
    expect(messages(2, 1_000)).toEqual(["b", "c"]);
    expect(lastOf(entries, 3, 1_000).isTruncated).toBe(false);
    expect(lastOf(entries, 2, 1_000).isTruncated).toBe(true);
  });

  it("ends where its characters do", () => {
    expect(messages(3, 202)).toEqual(["b", "c"]);
    expect(messages(3, 201)).toEqual(["c"]);
    expect(messages(3, 0)).toEqual([]);
  });
});
