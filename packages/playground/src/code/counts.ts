import { type Extension, RangeSet, StateEffect, StateField, type TransactionSpec } from "@codemirror/state";
import { gutter, GutterMarker } from "@codemirror/view";

/** How often a line was used. */
export interface LineCount {
  /** Offset of any place in the line. */
  readonly at: number;
  readonly count: number;
}

class CountMarker extends GutterMarker {
  readonly count: number;

  constructor(count: number) {
    super();
    this.count = count;
  }

  override eq(other: CountMarker): boolean {
    return other.count === this.count;
  }

  override toDOM(): Node {
    const text = document.createElement("span");
    text.className = "cm-count";
    text.textContent = String(this.count);
    if (this.count === 0) text.dataset["zero"] = "";
    return text;
  }
}

const setCounts = StateEffect.define<readonly LineCount[]>();

const counted = StateField.define<RangeSet<CountMarker>>({
  create: () => RangeSet.empty,
  update(value, { changes, effects, state }) {
    const told = effects.find((effect) => effect.is(setCounts));
    if (told === undefined) return value.map(changes);
    const { doc } = state;
    const markers = told.value
      .filter(({ at }) => at <= doc.length)
      .map(({ at, count }) => new CountMarker(count).range(doc.lineAt(at).from));
    return RangeSet.of(markers, true);
  },
});

/** A column of counts beside the line numbers. */
export const countGutter: Extension = [
  counted,
  gutter({
    class: "cm-counts",
    markers: (view) => view.state.field(counted),
    initialSpacer: () => new CountMarker(999),
  }),
];

/** The transaction that shows these counts and no others. */
export function showCounts(counts: readonly LineCount[]): TransactionSpec {
  return { effects: setCounts.of(counts) };
}
