import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type ApprovalAnswer, type ApprovalRequest, type Approver, visible } from "@keyhole/kernel";

interface Question {
  readonly request: ApprovalRequest;
  readonly answer: (isAllowed: boolean) => void;
}

export interface ApprovalPage {
  readonly approver: Approver;
  /** Holds the key to the page. For people only: a model that has it approves its own calls. */
  readonly url: string;
  close(): void;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** A model's words could hide characters, or turn the text around. */
const html = (text: string): string => visible(text).replace(/[&<>"]/g, (character) => escapes[character]!);
/** In the order of its characters: letters of Hebrew or Arabic would turn digits and signs between them around. */
const inOrder = (text: string): string => `<bdo dir="ltr">${html(text)}</bdo>`;
const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/** A page on this machine that shows each question until a person answers it. */
export async function openApprovalPage(): Promise<ApprovalPage> {
  const questions = new Map<string, Question>();
  const key = randomBytes(24).toString("base64url");
  const server = createServer((request, response) => {
    // As text: `new URL` throws for a target such as `//`, and a fault in a listener ends the program.
    if (!isEqual(request.url ?? "", `/${key}`)) return void response.writeHead(404).end();
    if (request.method === "POST")
      return void answer(request).then(
        () => response.writeHead(303, { location: `/${key}` }).end(),
        () => response.destroy(), // The client has gone.
      );
    response.writeHead(200, headers).end(pageOf([...questions.values()]));
  });
  async function answer(request: IncomingMessage): Promise<void> {
    let body = "";
    const late = setTimeout(() => request.destroy(), 10_000);
    try {
      for await (const chunk of request) if ((body += chunk).length > 1_000) return;
    } finally {
      clearTimeout(late);
    }
    const form = new URLSearchParams(body);
    questions.get(form.get("id") ?? "")?.answer(form.get("answer") === "allow");
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return {
    approver: Object.assign(
      (request: ApprovalRequest, signal: AbortSignal) =>
        new Promise<ApprovalAnswer>((resolve) => {
          const close = (isAllowed: boolean): void => {
            questions.delete(request.approvalId);
            resolve(
              isAllowed ? { answer: "allow", scope: "once", approver: "page" } : { answer: "deny", approver: "page" },
            );
          };
          signal.addEventListener("abort", () => close(false), { once: true });
          questions.set(request.approvalId, { request, answer: close });
        }),
      { concurrent: true },
    ),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${key}`,
    close: () => server.close(),
  };
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function pageOf(questions: readonly Question[]): string {
  const shown = questions.map(
    ({ request: { approvalId, tool, reason, input, grants } }) => `<form method="post">
<h2>${inOrder(tool)}</h2><p>${inOrder(reason)}</p><pre>${inOrder(JSON.stringify(input, undefined, 2))}</pre><p>${inOrder(grants.join(", "))}</p>
<input type="hidden" name="id" value="${html(approvalId)}">
<button name="answer" value="allow">Allow once</button> <button name="answer" value="deny">Deny</button></form>`,
  );
  const body = shown.join("\n") || "<p>No call waits. Reload this page.</p>";
  return `<!doctype html><html lang="en"><title>Approvals</title><h1>Approvals</h1>${body}</html>`;
}
