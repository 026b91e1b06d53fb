import { Listeners } from "./listeners.ts";

/** `local` outlives the tab; `session` ends with the tab. */
type Area = "local" | "session";

/** One value that the page saves. */
export interface SavedKey {
  readonly area: Area;
  readonly key: string;
  /** The name of the value in a message, such as "the policy". */
  readonly what: string;
}

type Areas = Readonly<Record<Area, () => Pick<Storage, "getItem" | "setItem" | "removeItem">>>;

/**
 * Values that outlive a page view. A browser may refuse storage, or have no room left. No method throws: a value that cannot be
 * stored is held in memory until the page is reloaded, and {@link SavedValues.unsaved} names the value.
 */
export class SavedValues {
  readonly #areas: Areas;
  readonly #held = new Map<string, string | undefined>();
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  #unsaved: readonly string[] = [];

  /** @param areas functions, because a browser may throw at the mention of `localStorage` */
  constructor(areas: Areas) {
    this.#areas = areas;
  }

  read({ area, key }: SavedKey): string | undefined {
    if (this.#held.has(key)) return this.#held.get(key);
    try {
      return this.#areas[area]().getItem(key) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * @param value `undefined` removes the saved value
   * @returns whether the value outlives a reload
   */
  write(saved: SavedKey, value: string | undefined): boolean {
    const isStored = this.#store(saved, value);
    if (isStored) this.#held.delete(saved.key);
    else this.#held.set(saved.key, value);
    const others = this.#unsaved.filter((what) => what !== saved.what);
    this.#unsaved = isStored ? others : [...others, saved.what];
    this.#listeners.tell();
    return isStored;
  }

  #store({ area, key }: SavedKey, value: string | undefined): boolean {
    try {
      const storage = this.#areas[area]();
      if (value === undefined) storage.removeItem(key);
      else storage.setItem(key, value);
      return true;
    } catch {
      return false;
    }
  }

  /** Removes every value of this page, also one that a later version of the page saved. */
  clear(): void {
    this.#held.clear();
    for (const area of ["local", "session"] as const)
      try {
        const storage = this.#areas[area]();
        for (const key of Object.keys(storage)) if (key.startsWith("keyhole.")) storage.removeItem(key);
      } catch {
        // Refused storage holds nothing to remove.
      }
  }

  /** The names of the values that are in memory only. The array changes when the list does. */
  readonly unsaved = (): readonly string[] => this.#unsaved;
}

/** The only place that touches the browser's storage. */
export const saved: SavedValues = new SavedValues({ local: () => localStorage, session: () => sessionStorage });
