import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { messagesPage, readMessages } from "../support/messages.ts";
import { root } from "../support/sources.ts";
import { emptySubject, replacedWords } from "../support/words/replaced-words.ts";

const messages = readMessages();
const maxWords = 25;

function found(isFault: (sentence: string) => boolean): readonly string[] {
  return messages.flatMap(({ path, text }) =>
    text
      .split(/(?<=[.!?:;])\s+/)
      .filter(isFault)
      .map((each) => `${path}: ${each}`),
  );
}

describe("the texts of the sources", () => {
  it("are found", () => {
    expect(messages.length).toBeGreaterThan(500);
    expect(messages).toContainEqual({
      path: "packages/kernel/src/call/faults/decision-texts.ts",
      text: "Approvers edited the arguments more than {…} times.",
      role: "message",
      code: "APPROVAL_DENIED",
    });
  });

  it("stand in docs/errors/messages.md: else run npm run write:messages", () => {
    expect(readFileSync(`${root}docs/errors/messages.md`, "utf8")).toBe(messagesPage(messages));
  });

  it(`have at most ${maxWords} words a sentence`, () => {
    expect(found((sentence) => sentence.split(/\s+/).length > maxWords)).toEqual([]);
  });

  it("begin with a noun or a verb", () => {
    expect(found((sentence) => emptySubject.test(sentence))).toEqual([]);
  });

  it("use the field's terms", () => {
    expect(found((sentence) => replacedWords.some(([words]) => words.test(sentence)))).toEqual([]);
  });
});
