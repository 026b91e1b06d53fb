/** By model context: names of the tools that `exposeToPage` registered there, which are the kernel's own. */
const exposed = new WeakMap<object, Set<string>>();

export function exposedNames(modelContext: object): Set<string> {
  const before = exposed.get(modelContext);
  if (before) return before;
  const names = new Set<string>();
  exposed.set(modelContext, names);
  return names;
}

/** The given one, or the page's. Firefox 153 has it as `navigator.modelContext`, behind `dom.modelcontext.enabled`. @throws TypeError where the page has none */
export function modelContextOr<Context>(given: Context | undefined): Context {
  if (given) return given;
  const { document, navigator } = globalThis as unknown as Record<
    "document" | "navigator",
    { modelContext?: Context } | undefined
  >;
  const modelContext = document?.modelContext ?? navigator?.modelContext;
  if (modelContext) return modelContext;
  throw new TypeError(
    "Got no document.modelContext, expected one. Use a browser with WebMCP, or load a polyfill first.",
  );
}
