import { type ApprovalRequest, type Approver, hasInvisible } from "@keyhole/kernel";
import { terminalApprover } from "@keyhole/worker-host/node";
import type { AskLine } from "@keyhole/worker-host/node/terminal";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openApprovalPage } from "../../packages/keyhole/templates/mcp/src/approvals.ts";
import { askInPage, openQuestions } from "../../packages/keyhole/templates/vite-react/src/approvals.ts";

// A model chooses the words of a question. The programs that a person starts from show each character of them.

const hidden = "pay \u202Ealice\u200B\u{E0041}\u2066\u001B[2Kbob";
const request = {
  approvalId: "1",
  tool: "save_note@1.0.0",
  reason: `because ${hidden}`,
  input: { text: hidden, [hidden]: 1 },
  effects: ["fs.write"],
  grants: [`write ${hidden}`],
} as unknown as ApprovalRequest;

/** Asks, and withdraws the question when it was seen. */
async function asking(approver: Approver, look: () => Promise<string> | string): Promise<string> {
  const controller = new AbortController();
  const answer = Promise.resolve(approver(request, controller.signal)).catch(() => {});
  const shown = await look();
  controller.abort();
  await answer;
  return shown;
}

const shownBy: Readonly<Record<string, () => Promise<string>>> = {
  "the approver of a terminal": () => {
    let shown = "";
    const ask: AskLine = (_prompt, _signal, question = "") => Promise.resolve(void (shown = question));
    return asking(terminalApprover({ ask }), async () => {
      await vi.waitFor(() => expect(shown).not.toBe(""));
      return shown;
    });
  },
  "the page of the template vite-react": () =>
    asking(askInPage, async () => {
      await vi.waitFor(() => expect(openQuestions()).toHaveLength(1));
      const [{ answer: _, ...texts } = { answer: () => {} }] = openQuestions();
      return Object.values(texts).flat().join("\n");
    }),
  "the page of the template mcp": async () => {
    const page = await openApprovalPage();
    try {
      return await asking(page.approver, async () => (await fetch(page.url)).text());
    } finally {
      page.close();
    }
  },
};

afterEach(() => void vi.restoreAllMocks());

describe("characters that a person does not see in a question", () => {
  it.each(Object.keys(shownBy))("are escapes in %s", async (where) => {
    const shown = await shownBy[where]!();
    expect(shown).toContain("save_note@1.0.0");
    expect([shown.includes("pay "), hasInvisible(shown.replaceAll("\n", " "))]).toEqual([true, false]);
  });
});
