/** By UTF-16 units, as far as a symbol does not stand in the way: it is refused when it is its turn. For few keys this takes a fifth of the engine's own way. */
export function sortKeys(keys: (string | symbol)[]): void {
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key !== "string") return; // A symbol, which a proxy can put anywhere.
    if (i > 24) {
      if (keys.every((each) => typeof each === "string")) keys.sort();
      else keys.sort((a, b) => (String(a) < String(b) ? -1 : 1));
      return;
    }
    let at = i;
    for (let before = keys[at - 1]; typeof before === "string" && key < before; before = keys[--at - 1])
      keys[at] = before;
    keys[at] = key;
  }
}
