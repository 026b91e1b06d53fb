import { blank, hasInvisible } from "./visible.ts";

const seen = String.raw`[^\p{DI}\p{C}\p{Z}\s${blank}]`;
const sign = String.raw`[\p{P}\p{S}\p{N}]`;
const wide = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\uff01-\uff60]`;
const between = (before: string, space: string, after: string): string =>
  `(?<=${before})(?<=${seen})${space}(?=${after})(?=${seen})`;
const noBreak = String.raw`[\u00a0\u202f]`;
const usual = new RegExp(
  [
    between(sign, noBreak, seen),
    between(seen, noBreak, sign),
    between(wide, String.raw`\u3000`, seen),
    between(seen, String.raw`\u3000`, wide),
  ].join("|"),
  "gu",
);

/**
 * Whether running text has a character that a person does not see. French typography has spaces of another width beside signs and in numbers, Japanese beside wide letters.
 * A single one there joins, hides and reorders nothing. It can still imitate a name or a path, so everything but prose asks {@link hasInvisible}.
 */
export function hasInvisibleInProse(text: string): boolean {
  return hasInvisible(text.replace(usual, " "));
}
