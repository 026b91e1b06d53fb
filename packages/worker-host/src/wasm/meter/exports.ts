import { find, readLayout, section } from "./layout.ts";

const kinds = ["function", "table", "memory", "global", "tag"] as const;

/** The names that a module exports, with their kinds, read from its bytes: where nothing may be compiled nobody else can say. */
export function exportsOf(valid: Uint8Array): ReadonlyMap<string, (typeof kinds)[number] | undefined> {
  const found = new Map<string, (typeof kinds)[number] | undefined>();
  const reader = find(readLayout(valid), section.export, valid);
  for (let count = reader?.u32() ?? 0; reader !== undefined && count > 0; count--) {
    const name = reader.name();
    found.set(name, kinds[reader.byte()]);
    reader.u32();
  }
  return found;
}
