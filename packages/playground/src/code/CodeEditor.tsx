import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  type KeyBinding,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";
import "./code.css";
import { countGutter, type LineCount, showCounts } from "./counts.ts";
import { editorLook } from "./look.ts";
import { type Note, notesField, showNotes } from "./notes.ts";

/** The functions that a parent has of the editor. */
export interface CodeHandle {
  /** Moves the caret there, and the focus into the editor. */
  readonly show: (at: number) => void;
}

interface CodeEditorProps {
  /** The words of a screen reader. */
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** Language and completion. A new array sets the editor up anew. */
  readonly extensions: readonly Extension[];
  readonly notes?: readonly Note[];
  readonly counts?: readonly LineCount[];
  readonly keys?: readonly KeyBinding[];
  readonly ref?: Ref<CodeHandle>;
}

/**
 * CodeMirror. It stands in a shadow tree: there it puts its styles into constructed style sheets, so that the page's policy
 * can forbid inline styles. The keyboard leaves it with Tab.
 */
export function CodeEditor(props: CodeEditorProps): ReactNode {
  const { label, text, extensions, notes = noNotes, counts, keys = noKeys, ref } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(null);
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const hasCounts = counts !== undefined;
  useEffect(() => {
    const made = makeEditor(host.current!, label, latest, hasCounts);
    editor.current = made;
    return () => made.view.destroy();
    // The effects below pass later changes to the editor.
  }, [label, hasCounts]);
  useEffect(() => {
    const { view, changing } = editor.current!;
    view.dispatch({ effects: changing.reconfigure([extensions, keymap.of([...keys])]) });
  }, [extensions, keys]);
  // Before the next key: a text that waits here would take back the text typed meanwhile, and the caret with it.
  useLayoutEffect(() => editor.current?.take(text), [text]);
  useEffect(() => {
    const { view } = editor.current!;
    view.dispatch(showNotes(view.state, notes));
  }, [notes]);
  useEffect(() => {
    if (counts !== undefined) editor.current!.view.dispatch(showCounts(counts));
  }, [counts]);
  useImperativeHandle(ref, () => ({ show: (at) => showAt(editor.current!.view, at) }), []);
  return <div className="code-editor" ref={host} />;
}

const noNotes: readonly Note[] = [];
const noKeys: readonly KeyBinding[] = [];

/** A change that the parent made, who knows of it. */
const fromParent = Annotation.define<true>();

interface Editor {
  readonly view: EditorView;
  /** Takes a text of the parent, unless it is one that the editor told it: that one may be older than the last key. */
  readonly take: (text: string) => void;
  /** The properties that can change while the editor stands. */
  readonly changing: Compartment;
}

/** Beside those that CodeMirror marks: the characters that `visible` of the kernel shows as escapes. */
const hidden = /[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f]|[\ufe00-\ufe0f]|[\ufff0-\uffff]/u;

function makeEditor(
  host: HTMLElement,
  label: string,
  latest: { readonly current: CodeEditorProps },
  hasCounts: boolean,
): Editor {
  const changing = new Compartment();
  const { text, extensions, keys = noKeys } = latest.current;
  const told: string[] = [];
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const state = EditorState.create({
    doc: text,
    extensions: [
      changing.of([extensions, keymap.of([...keys])]),
      lineNumbers(),
      hasCounts ? countGutter : [],
      notesField,
      history(),
      highlightSpecialChars({ addSpecialChars: hidden }),
      drawSelection(),
      EditorView.lineWrapping,
      indentUnit.of("  "),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ icons: false }),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      editorLook,
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
      EditorView.domEventHandlers({ beforeinput: replaceSelected }),
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
      EditorView.updateListener.of(({ docChanged, state: now, transactions }) => {
        if (!docChanged || transactions.some((each) => each.annotation(fromParent))) return;
        told.push(now.doc.toString());
        latest.current.onChange(told.at(-1)!);
      }),
    ],
  });
  const view = new EditorView({ state, parent: root, root });
  const take = (next: string): void => {
    const echo = told.lastIndexOf(next);
    told.splice(0, echo === -1 ? told.length : echo + 1);
    const { doc } = view.state;
    if (echo !== -1 || doc.toString() === next) return;
    view.dispatch({ changes: { from: 0, to: doc.length, insert: next }, annotations: fromParent.of(true) });
  };
  return { view, take, changing };
}

/** A browser that replaces a selection itself writes inline styles into what it joins, notes between lines included, and the page's policy reports them. */
function replaceSelected({ inputType, data }: InputEvent, view: EditorView): boolean {
  const { doc, selection } = view.state;
  const { from, to, empty } = selection.main;
  // A bracket or a quote encloses words of one line.
  const isAround = doc.lineAt(from).number === doc.lineAt(to).number && /^[([{'"`]$/.test(data ?? "");
  if (inputType !== "insertText" || data === null || empty || isAround || view.composing) return false;
  view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}

function showAt(view: EditorView, at: number): void {
  const anchor = Math.min(at, view.state.doc.length);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  view.focus();
}
