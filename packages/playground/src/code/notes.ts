import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { type EditorState, type Extension, StateEffect, StateField, type TransactionSpec } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import { visible } from "@keyhole/kernel";

/** Something about a place of the text, shown below its line. */
export interface Note {
  /** Offsets in the text. */
  readonly from: number;
  readonly to: number;
  readonly severity: "error" | "warning";
  readonly title: string;
  readonly text: string;
  readonly action?: { readonly name: string; readonly press: () => void };
}

/** Below a line each; more than a person reads at once only underlines. */
const mostShown = 20;

class NoteWidget extends WidgetType {
  readonly note: Note;

  constructor(note: Note) {
    super();
    this.note = note;
  }

  override eq({ note }: NoteWidget): boolean {
    const { severity, title, text, action } = this.note;
    return note.severity === severity && note.title === title && note.text === text && note.action === action;
  }

  override toDOM(): HTMLElement {
    const { severity, title, text, action } = this.note;
    const box = document.createElement("div");
    box.className = "cm-note";
    box.dataset["severity"] = severity;
    box.setAttribute("role", "note");
    const words = document.createElement("span");
    const heading = document.createElement("b");
    heading.textContent = visible(title);
    words.append(heading, visible(text));
    box.append(words);
    if (action !== undefined) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = visible(action.name);
      button.addEventListener("click", action.press);
      box.append(button);
    }
    const between = document.createElement("div");
    between.className = "cm-between";
    between.append(box);
    return between;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

const setShown = StateEffect.define<readonly Note[]>();

const shown = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    const moved = value.map(transaction.changes);
    const told = transaction.effects.find((effect) => effect.is(setShown));
    return told === undefined ? moved : widgetsOf(transaction.state, told.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function widgetsOf(state: EditorState, notes: readonly Note[]): DecorationSet {
  const widgets = notes.slice(0, mostShown).map((note) => {
    const line = state.doc.lineAt(Math.min(note.from, state.doc.length));
    return Decoration.widget({ widget: new NoteWidget(note), block: true, side: 1 }).range(line.to);
  });
  return Decoration.set(widgets, true);
}

export const notesField: Extension = shown;

/** The transaction that shows these notes and no others. */
export function showNotes(state: EditorState, notes: readonly Note[]): TransactionSpec {
  const end = state.doc.length;
  const diagnostics = notes.map(({ from, to, severity, title, text }): Diagnostic => ({
    from: Math.min(from, end),
    to: Math.min(Math.max(from, to), end),
    severity,
    message: visible(`${title}: ${text}`),
  }));
  const { effects = [] } = setDiagnostics(state, diagnostics);
  return { effects: [setShown.of(notes), ...[effects].flat()] };
}
