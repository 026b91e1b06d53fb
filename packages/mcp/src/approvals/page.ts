import { type ApprovalRequest, visible } from "@keyhole/kernel";
import { visibleJson } from "@keyhole/kernel/foreign-tools";
import { argumentRows, questionSentence } from "@keyhole/kernel/policy";

/* Texts of others stand in the order of their characters: letters of Hebrew or Arabic would turn digits and signs between them around. */
const style = `h1,p,dt,dd,pre{unicode-bidi:bidi-override;direction:ltr}body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:CanvasText;background:Canvas}
:root{color-scheme:light dark}pre:empty{display:none}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid GrayText;padding:.75rem;margin:0;max-height:12rem;overflow:auto}small{font-weight:400}
dt{font-weight:600}dd{margin:0 0 .75rem}input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem}
button{font:inherit;padding:.5rem 1.25rem;margin:1rem 1rem 0 0}`;

/** Nothing of a page is loaded, runs, is framed, or is kept. */
export const pageHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
};

/** The question as it is: exact arguments, with invisible characters as escapes. */
export function questionPage(question: ApprovalRequest, note = ""): string {
  return page(
    question.title,
    `${note === "" ? "" : `<p role="alert"><strong>${escaped(note)}</strong></p>`}
${questionFacts(question)}
<form method="post" autocomplete="off">
<label>Approval key <input name="key" type="password" required autocomplete="off"></label>
<button name="answer" value="deny">Deny</button><button name="answer" value="allow">Allow this call once</button>
</form>
<p>The answer proves that its sender had the key. It does not prove that a person read this page: an agent that has the key, or that drives this browser while you type it,
can answer as well.</p>`,
  );
}

/** The subject of the approval. */
export function questionFacts(question: ApprovalRequest): string {
  const { tool, caller, reason, grants, input, hasBody, expiresAt } = question;
  const facts: readonly (readonly [string, string])[] = [
    ["Tool", tool],
    ["Caller", caller],
    ["Reason", reason],
    ...(hasBody ? [["Body", "Bytes come with this call that cannot be shown here."] as const] : []),
    ["Access", grants.length === 0 ? "none" : grants.join("\n")],
    ["Until", expiresAt],
  ];
  const rows = argumentRows(input);
  return `<p><strong>${escaped(questionSentence(question))}</strong></p>
<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${lines(value)}</dd>`).join("")}</dl>
<h2>${rows.length === 1 ? "The exact argument" : `The ${rows.length} exact arguments`}</h2>
<dl>${rows.map(({ name, text }) => `<dt>${lines(name)}${lengthNote(text)}</dt><dd><pre>${escaped(visible(text))}</pre></dd>`).join("")}</dl>`;
}

/** A longer value scrolls in its own box: no other argument leaves the page for it. */
const longText = 400;

function lengthNote(text: string): string {
  return text.length <= longText
    ? ""
    : ` <small>${text.length.toLocaleString("en")} characters: scroll to read all</small>`;
}

export function notePage(title: string, text: string): string {
  return page(title, `<p role="status">${escaped(text)}</p>`);
}

export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${lines(title)}</title>
<style>${style}</style></head><body><main><h1>${lines(title)}</h1>${body}</main></body></html>`;
}

/** Text of others: characters of markup as entities, and invisible characters as escapes. */
export function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

function lines(text: string): string {
  return text
    .split("\n")
    .map((line) =>
      escaped(
        visibleJson(line)
          .slice(1, -1)
          .replaceAll(String.raw`\"`, '"'),
      ),
    )
    .join("<br>");
}
