/** The ids that a plugin of ours loaded, by environment. A program can have the plugin twice: in Vite's list, and in its list for workers. */
const loaded = new WeakMap<object, Set<string>>();

export function noteOwn(environment: object, id: string): void {
  const ids = loaded.get(environment) ?? new Set();
  loaded.set(environment, ids.add(id));
}

export function isOwn(environment: object, id: string): boolean {
  return loaded.get(environment)?.has(id) === true;
}
