/** By model context: names of the tools that `exposeToPage` registered there, which are the kernel's own. */
const exposed = new WeakMap<object, Set<string>>();

export function exposedNames(modelContext: object): Set<string> {
  const before = exposed.get(modelContext);
  if (before) return before;
  const names = new Set<string>();
  exposed.set(modelContext, names);
  return names;
}
