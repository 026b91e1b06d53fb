import { CompletionContext, type CompletionResult, type CompletionSource } from "@codemirror/autocomplete";
import { json } from "@codemirror/lang-json";
import { EditorState } from "@codemirror/state";
import { policyFileSchema } from "@keyhole/kernel/document-schemas";
import { describe, expect, it } from "vitest";
import { completeFrom, completion } from "../../packages/playground/src/policy/complete.ts";

const complete = completeFrom(policyFileSchema, new Map([["tool", ["echo", "http_fetch"]]]));

/** @param text with `|` at the caret */
function labelsAt(text: string): readonly string[] {
  const pos = text.indexOf("|");
  const state = EditorState.create({ doc: text.replace("|", ""), extensions: [json()] });
  const found = complete(new CompletionContext(state, pos, true));
  return (found?.options ?? []).map(({ label }) => String(JSON.parse(label)));
}

describe("the completion of a policy", () => {
  it.for<[string, string, readonly string[], readonly string[]]>([
    ["members of the document that are not there", '{ "version": "1", | }', ["posture", "grants"], ["version"]],
    ["a member whose name begins", '{ "version": "1", "gr|" }', ["grants"], ["hosts"]],
    ["a value that the schema names", '{ "posture": "|" }', ["strict", "standard", "permissive"], ["allow"]],
    ["members of a grant", '{ "grants": [{ | }] }', ["tool", "capability", "caller"], ["rules"]],
    ["tools of the kernel", '{ "grants": [{ "tool": "|" }] }', ["echo", "http_fetch"], []],
    ["tools in a condition", '{ "rules": [{ "when": { "tool": ["|"] } }] }', ["echo"], []],
    ["kinds of capability", '{ "grants": [{ "capability": { "kind": "|" } }] }', ["net.read", "fs.write"], []],
    [
      "members of this kind alone",
      '{ "grants": [{ "capability": { "kind": "fs.read", | } }] }',
      ["paths"],
      ["hosts", "keys"],
    ],
    ["effects of a rule", '{ "rules": [{ "effect": | }] }', ["allow", "ask", "deny"], []],
    ["nothing in free text", '{ "rules": [{ "reason": "|" }] }', [], ["echo"]],
  ])("offers %s", ([, text, wanted, unwanted]) => {
    const labels = labelsAt(text);
    for (const each of wanted) expect(labels).toContain(each);
    for (const each of unwanted) expect(labels).not.toContain(each);
  });

  it("offers members at the end of a text that the editor has not parsed yet", () => {
    const rules = Array.from({ length: 100 }, (_, index) => ({ id: `rule-${index}`, effect: "deny", reason: "none" }));
    const text = `{ "rules": ${JSON.stringify(rules)}, }`;
    const state = EditorState.create({ doc: text, extensions: [json(), completion(complete)] });
    const [source] = state.languageDataAt<CompletionSource>("autocomplete", text.length - 1);
    const found = source?.(new CompletionContext(state, text.length - 1, true)) as CompletionResult | null;
    expect(found?.options.map(({ label }) => label)).toContain('"posture"');
  });

  it("never throws, wherever the caret stands in a broken text", () => {
    const text = '{ "grants": [{ "tool": "a", "capability": { "kind": "net.read", "hosts": ["x" } }, [[ "rules": {{ "';
    for (let at = 0; at <= text.length; at++) labelsAt(`${text.slice(0, at)}|${text.slice(at)}`);
  });
});
