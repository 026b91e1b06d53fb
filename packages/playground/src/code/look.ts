import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The names of `tokens.css` reach into the editor's shadow tree; no other rule of the page does. */
const look = EditorView.theme({
  "&": {
    height: "100%",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    font: "var(--t-mono)",
    fontVariantLigatures: "none",
  },
  // The page draws it around the gutters, too.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.25rem", overflow: "auto" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--text)" },
  // A wrapped line continues under its own beginning.
  ".cm-line": { padding: "0 var(--s3) 0 calc(6px + 6ch)", textIndent: "-6ch" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--action) 24%, transparent)",
  },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "0" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.25rem", padding: "0 8px 0 4px" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--action) 6%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--mark)", outline: "1px solid var(--line-strong)" },
  ".cm-specialChar": { color: "var(--deny)", fontWeight: "600" },
  ".cm-tooltip": {
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    boxShadow: "var(--shadow-high)",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "14rem" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "2px 8px", lineHeight: "1.25rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--selected)",
    color: "var(--text)",
    outline: "2px solid var(--action)",
    outlineOffset: "-2px",
  },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-completionMatchedText": { textDecoration: "none", color: "var(--action)", fontWeight: "700" },
  ".cm-completionInfo": { padding: "6px 8px", maxWidth: "20rem", font: "var(--t-small)", color: "var(--muted)" },
  ".cm-diagnostic": { padding: "4px 8px", font: "var(--t-small)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--deny)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--ask)" },
  ".cm-lintRange-error": { background: "none", textDecoration: "underline wavy var(--deny) 1px" },
  ".cm-lintRange-warning": { background: "none", textDecoration: "underline wavy var(--ask) 1px" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--deny)" },
  ".cm-note": {
    display: "flex",
    flexWrap: "wrap",
    gap: "4px var(--s3)",
    alignItems: "center",
    justifyContent: "space-between",
    width: "fit-content",
    maxWidth: "min(44rem, 100%)",
    padding: "5px 10px",
    border: "1px solid var(--ask)",
    borderRadius: "var(--radius)",
    backgroundColor: "var(--ask-soft)",
    font: "var(--t-small)",
    whiteSpace: "normal",
    overflowWrap: "anywhere",
  },
  // The editor does not count a margin of what stands between lines.
  ".cm-between": { padding: "3px 6px 5px" },
  ".cm-note[data-severity=error]": { borderColor: "var(--deny)", backgroundColor: "var(--deny-soft)" },
  ".cm-note b": { marginRight: "6px" },
  ".cm-note button": {
    minHeight: "var(--target)",
    padding: "0 10px",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    background: "var(--surface)",
    color: "var(--text)",
    font: "inherit",
    cursor: "pointer",
  },
  ".cm-note button:focus-visible": { outline: "2px solid var(--action)" },
  ".cm-counts": { minWidth: "2.75rem", textAlign: "right", fontVariantNumeric: "tabular-nums" },
  ".cm-counts .cm-gutterElement": { padding: "0 8px 0 4px" },
  ".cm-count": { display: "block", borderRight: "3px solid var(--work)", paddingRight: "6px", color: "var(--muted)" },
  ".cm-count[data-zero]": { borderRightStyle: "dotted" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number], color: "var(--code-number)" },
  { tag: [tags.keyword, tags.bool, tags.null, tags.operatorKeyword, tags.modifier], color: "var(--code-word)" },
  { tag: tags.comment, color: "var(--code-note)" },
  { tag: tags.invalid, color: "var(--deny)" },
]);

export const editorLook: Extension = [look, syntaxHighlighting(colours)];
