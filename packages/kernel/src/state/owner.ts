/** A key that begins with a caller's name, as JSON: `["ada",…`. All others belong to nobody. */
const named = /^\["(?:[^"\\]|\\.)*"/;

/** The caller whose row it is, as JSON behind a bracket: for comparison alone. */
export const ownerOf = (key: string): string | undefined => named.exec(key)?.[0];
