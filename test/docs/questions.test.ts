import { posix } from "node:path";
import { expect, it } from "vitest";
import { readPage } from "./markdown.ts";

/** Where a reader finds the answer: a page, and a heading of it or nothing. */
const answers = {
  "agent developer": [
    ["How do I run a first tool under a policy?", "docs/start.md"],
    ["How do I use the framework that I have?", "docs/how-to/ai-sdk.md"],
    ["Which part of an error does the model get?", "docs/errors/README.md"],
    ["How does a tool reach files or a database?", "docs/brokers.md#databases"],
    ["How do I repeat a call safely?", "docs/calls.md#idempotency-keys"],
    ["Which directives does my page's Content-Security-Policy need?", "docs/kernel-in-a-worker.md"],
  ],
  operator: [
    ["How do I write a policy from an empty file?", "docs/policy.md#start-empty"],
    ["How do I take a grant back at once?", "docs/policy.md#revocation"],
    ["How does a person answer on a page?", "docs/mcp.md#an-approval-page"],
    ["How do I deploy the HTTP service?", "docs/edge.md"],
    ["What happens to the log after a crash?", "docs/audit.md#after-a-crash"],
    ["How do events reach another system?", "docs/how-to/export-events.md"],
  ],
  reviewer: [
    ["Which guarantee does which test show?", "docs/threat-model.md"],
    ["Which attempts to leave an isolate were made?", "docs/hostile-battery.md"],
    ["How do I verify a log offline?", "docs/how-to/verify-a-log.md"],
    ["In which encodings are secrets found?", "docs/secrets.md#detected-encodings"],
    ["Which dependencies run with the kernel?", "docs/dependencies.md"],
    ["Where do I report a vulnerability?", "SECURITY.md"],
  ],
} as const;

const linksOf = (path: string): readonly string[] =>
  path.endsWith(".md") ? readPage(path).links.map(({ target }) => pageOf(path, target)) : [];

function pageOf(from: string, target: string): string {
  const [path = ""] = target.split("#");
  return path === "" ? from : posix.join(posix.dirname(from), path);
}

const first = linksOf("README.md").filter((path) => path.startsWith("docs/") || path === "SECURITY.md");
const reached = new Set([...first, ...first.flatMap(linksOf)]);

const rows = Object.entries(answers).flatMap(([reader, questions]) =>
  questions.map(([question, target]) => [reader, question, target] as const),
);

it.each(rows)("%s: %s is answered within two clicks of README.md", (_reader, _question, target) => {
  const [path = "", anchor] = target.split("#");
  expect(reached).toContain(path);
  if (anchor !== undefined) expect(readPage(path).anchors).toContain(anchor);
});
