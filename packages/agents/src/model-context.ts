/** By model context: names of the tools that `exposeToPage` registers there, which are the kernel's own. */
const exposed = new WeakMap<object, Set<string>>();

export function exposedNames(modelContext: object): ReadonlySet<string> {
  return exposed.get(modelContext) ?? new Set();
}

/**
 * Takes names for the kernel, all or none. They have one owner: an exposure that fails must not give away the tools of another, which
 * `pageToolsSource` would then take for the page's.
 *
 * @throws TypeError for a name with another owner
 */
export function claimNames(modelContext: object, names: readonly string[]): { release(): void } {
  const taken = exposed.get(modelContext) ?? new Set();
  exposed.set(modelContext, taken);
  const twice = names.find((name) => taken.has(name));
  if (twice !== undefined)
    throw new TypeError(
      `The page already has ${twice} from another exposeToPage. Close that one, or expose all tools at once.`,
    );
  for (const name of names) taken.add(name);
  return { release: () => names.forEach((name) => taken.delete(name)) };
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
