import type { CommandPattern } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { matchCommand } from "../../packages/kernel/src/capability/matching/commands.ts";
import { checkPath } from "../../packages/kernel/src/capability/matching/paths.ts";

describe("a path of a file", () => {
  it.each(["a.crswap", "a.key.CRSWAP", "a.txt.1.CrSwap/b", ".crswap"])(
    "%s is no file that a browser writes",
    (path) => {
      expect(checkPath(path)).toBe("a segment does not end in .crswap, as files of browsers do");
    },
  );
  it.each(["PRIVAT~1", "privat~1/a.txt", "a/PROGRA~2.TXT", "A~1", "ABCDE~10.c"])(
    "%s is no short name of Windows",
    (path) => {
      expect(checkPath(path)).toBe("a segment is not a short name of Windows");
    },
  );
  it.each(["a~", "~a", "notes~old.txt", "long-name~1.backup.txt", "a~1b", "backup.~1~"])("%s is a path", (path) => {
    expect(checkPath(path)).toBe(undefined);
  });
});

describe("an argument that a program could read as an option", () => {
  const patterns: readonly NonNullable<CommandPattern["args"]>[] = [
    [{ prefix: "" }],
    [{ path: ["**"] }],
    [{ rest: { prefix: "" } }],
  ];
  // Windows gives programs of the old interface the nearest character of their code page.
  it.each(["\u00add", "－d", "\u2010d", "\u2212d", "﹣d", "\u200b-d", "＠file", "＋x", "\u2060@file"])(
    "%j fits nothing",
    (argument) => {
      for (const args of patterns) expect(matchCommand({ command: "c", args }, "c", [argument])).toBe(false);
    },
  );
  it.each(["．．/a", "‥/a", "a/．．", "..∕a", "..⁄a", "..¥a", "x=．．/a", ".\u200b./a"])(
    "%j is a step up",
    (argument) => {
      expect(matchCommand({ command: "c", args: [{ prefix: "" }] }, "c", [argument])).toBe(false);
    },
  );
  // A Japanese code page has the yen sign in the place of the backslash.
  it.each(["¥100", "/x", "C:x"])("%j is no text that an empty prefix covers", (argument) => {
    expect(matchCommand({ command: "c", args: [{ prefix: "" }] }, "c", [argument])).toBe(false);
  });
  it.each(["é-d", "日本", "a…b", "a–b", "a¥100", "ｆｕｌｌ"])("%j is a text", (argument) => {
    expect(matchCommand({ command: "c", args: [{ prefix: "" }] }, "c", [argument])).toBe(true);
  });
});
