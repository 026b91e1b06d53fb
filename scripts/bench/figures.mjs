// Reads the figures that benchmarks print, and compares those of two versions.

/** @typedef {{ readonly label: string, readonly unit: string, readonly base: number, readonly head: number, readonly change: number }} Row */

/** A benchmark prints a time in the unit that suits it, so times are compared in nanoseconds. */
const nanoseconds = new Map([
  ["ns", 1],
  ["µs", 1e3],
  ["ms", 1e6],
]);

/** Whether a larger figure is a better one. Figures without one of these units are not compared. */
const isLargerBetter = new Map([
  ["ns", false],
  ["×", false],
  ["× the speed", true],
  ["MB/s", true],
  ["events/s", true],
  ["/s", true],
]);

const figure = /(?<![\w.])(\d+(?:,\d{3})*(?:\.\d+)?)\s*(ns|µs|ms|MB\/s|events\/s|\/s|× the speed|×)(?![\w/])/g;

/**
 * The figures of one run. A label is the line without its figures, so it is the same in each run; the second figure of a line
 * has a label of its own.
 *
 * @param {string} output
 * @returns {ReadonlyMap<string, { readonly unit: string, readonly value: number }>}
 */
export function figuresIn(output) {
  const found = new Map();
  for (const line of output.split("\n")) {
    // A bar is the same in both versions.
    const text = line.replaceAll(/\(bar[^)]*\)/g, "");
    // Whole numbers without a unit of time name the case: "64 B", "10,000 rules".
    const label = text
      .replaceAll(figure, "#")
      .replaceAll(/\d+\.\d+(?!\d| [KM]B)/g, "#")
      .replaceAll(/\s+/g, " ")
      .trim();
    [...text.matchAll(figure)].forEach(([, value = "", unit = ""], at) => {
      const scale = nanoseconds.get(unit);
      const number = Number(value.replaceAll(",", "")) * (scale ?? 1);
      found.set(`${label} [${at + 1}]`, { unit: scale === undefined ? unit : "ns", value: number });
    });
  }
  return found;
}

/** @param {readonly number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return /** @type {number} */ (sorted[Math.floor(sorted.length / 2)]);
}

/**
 * @param {readonly string[]} bases outputs of the base, one a round
 * @param {readonly string[]} heads outputs of the working tree, one a round
 * @returns {readonly Row[]} `change` is 0.1 where the working tree is 10 % worse, worst first
 */
export function compared(bases, heads) {
  const [base, head] = [bases, heads].map((outputs) => outputs.map(figuresIn));
  const rows = [];
  for (const [label, { unit }] of head?.[0] ?? []) {
    const [before, after] = [base, head].map((runs) => (runs ?? []).flatMap((run) => run.get(label)?.value ?? []));
    if (!before?.length || !after?.length) continue;
    const [from, to] = [median(before), median(after)];
    if (from <= 0 || to <= 0) continue;
    const change = isLargerBetter.get(unit) === true ? from / to - 1 : to / from - 1;
    rows.push({ label, unit, base: from, head: to, change });
  }
  return rows.toSorted((a, b) => b.change - a.change);
}
