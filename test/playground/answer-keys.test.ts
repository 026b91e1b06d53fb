import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerKeys, type KeyAct } from "../../packages/playground/src/approval/answer-keys.ts";

function pressAll(keys: AnswerKeys, names: readonly string[], allowed = true): readonly KeyAct[] {
  return names.map((name) => keys.press(name, () => allowed));
}

function turned(): AnswerKeys {
  const keys = new AnswerKeys();
  keys.turn();
  return keys;
}

const neutral = [
  "Tab",
  "Shift",
  "Control",
  "Alt",
  "AltGraph",
  "Meta",
  "CapsLock",
  "Escape",
  "ArrowDown",
  "PageUp",
  "F5",
];

describe("the keys of a question", () => {
  it.each(["thanks", "git status", "alpha", "d", "e", "s"])(
    "take %j for text that was meant for another field",
    (text) => {
      const acts = pressAll(new AnswerKeys(), [...text, "Enter"]);
      expect(new Set(acts)).toEqual(new Set(["typed"]));
    },
  );

  it("answer nothing before the person turns to the question, for any keys", () => {
    const names = fc.oneof(
      fc.string({ minLength: 1, maxLength: 1 }),
      fc.constantFrom("a", "s", "d", "e", "Enter", ...neutral),
    );
    fc.assert(
      fc.property(fc.array(names), (each) => {
        const keys = new AnswerKeys();
        expect(pressAll(keys, each).filter((act) => act !== "typed" && act !== undefined)).toEqual([]);
        expect([keys.isTurned, keys.armed]).toEqual([false, undefined]);
      }),
    );
  });

  it.each([
    ["a", ["arm", "once"]],
    ["S", ["arm", "session"]],
    ["D", ["deny", "typed"]],
    ["e", ["edit", "typed"]],
  ] as const)("take %s and Enter after a turn to the question", (letter, acts) => {
    expect(pressAll(turned(), [letter, "Enter"])).toEqual(acts);
  });

  it.each(["as", "sa", "thanks", "status", "xa", "a a", "ad"])(
    "take %j for text also after a turn, and need another one",
    (text) => {
      const keys = turned();
      expect(
        pressAll(keys, [...text, "Enter"]).filter((act) => act === "once" || act === "session" || act === "deny"),
      ).toEqual([]);
      expect(keys.isTurned).toBe(false);
    },
  );

  it.each(neutral)("disarm at %s, and still count", (name) => {
    expect(pressAll(turned(), ["a", name, "s"])).toEqual(["arm", undefined, "arm"]);
    expect(pressAll(turned(), ["a", name, "Enter"]).at(-1)).toBe("typed");
  });

  it("arm no answer that is impossible for now", () => {
    expect(pressAll(turned(), ["a", "Enter"], false)).toEqual(["typed", "typed"]);
  });
});
