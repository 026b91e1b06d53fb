/** How a figure stands beside its bar, in the one form that `npm run write:benchmarks` reads. */
export function atMost(value: number, bar: number, unit = "×"): string {
  return verdict("at most", value <= bar, bar, unit);
}

export function atLeast(value: number, bar: number, unit = "×"): string {
  return verdict("at least", value >= bar, bar, unit);
}

function verdict(side: string, isMet: boolean, bar: number, unit: string): string {
  return `(bar: ${side} ${bar.toLocaleString("en")} ${unit}, ${isMet ? "met" : "missed"})`;
}
