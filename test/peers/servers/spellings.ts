/** Places that a path can lead to: what is granted, what is denied within it, what is outside. */
export type Place = "granted" | "denied" | "outside" | "nowhere";

export function placeOf(path: string): Place {
  if (/^\/docs\/internal(?:\/|$)/.test(path)) return "denied";
  if (/^\/docs(?:\/|$)/.test(path)) return "granted";
  return path.startsWith("/admin/") ? "outside" : "nowhere";
}

const targets = [
  "/docs/internal/salaries",
  "/docs/internal",
  "/docs/../admin/salaries",
  "/docs/a/../internal/salaries",
  "/docs/a/../../admin/salaries",
  "/docs/a",
];

/** Numbers that are the same in every run (Park and Miller). */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

const hex = (letter: string): string => `%${letter.codePointAt(0)!.toString(16).padStart(2, "0")}`;
const letters: readonly ((letter: string) => string)[] = [
  hex,
  (letter) => hex(letter).toUpperCase(),
  (letter) => `%25${hex(letter).slice(1)}`,
  (letter) => `%${hex(hex(letter)[1]!)}${hex(hex(letter)[2]!)}`,
  (letter) => `%%${hex(letter)[1]!}${hex(letter)[2]!}`,
  (letter) => letter.toUpperCase(),
  (letter) => `%u00${hex(letter).slice(1)}`,
];
const slashes = [
  "/",
  "/",
  "//",
  "/./",
  "%2f",
  "%252f",
  "%%32%66",
  "\\",
  "%5c",
  "/;a=b/",
  "/%2e/",
  "%2f/",
  "/.%2f",
  "%c0%af",
];
const ends = [";v=1", ".", "%20", "%3fa", "%23a", ":$DATA", "%2e", "%3b", "%00"];
const ups = ["..", "..", "%2e%2e", ".%2e", "%252e%252e", "%%32%65.", "..;", "..%20", "%2e%2e%2f..", "..%c0%af"];

/** One spelling of a place, as a `URL` leaves it: what a broker would send. */
function spell(target: string, below: (limit: number) => number): string | undefined {
  const segments = target.split("/").slice(1);
  let text = "";
  for (const segment of segments) {
    text += slashes[below(6) === 0 ? below(slashes.length) : 0]!;
    text +=
      segment === ".."
        ? ups[below(ups.length)]!
        : [...segment].map((letter) => (below(24) === 0 ? letters[below(letters.length)]!(letter) : letter)).join("");
    text += below(4) === 0 ? ends[below(ends.length)]! : "";
  }
  const url = `http://example.com${text}`;
  return URL.canParse(url) ? new URL(url).pathname : undefined;
}

/** Spellings without repetition, the same in every run. */
export function spellings(count: number, seed = 7): readonly string[] {
  const below = numbersFrom(seed);
  const found = new Set(targets.map((target) => new URL(target, "http://example.com").pathname));
  while (found.size < count) {
    const path = spell(targets[below(targets.length)]!, below);
    if (path !== undefined) found.add(path);
  }
  return [...found];
}
