import { backslash, decoded, type Escape, html, percent, quotedPrintable } from "./escapes.ts";
import { Decoded, type EncodedForm, plainForm } from "./encoded-form.ts";

/** Bytes that one byte of a value takes at most: ten of the longest escape, each in ten of another one. */
export const longestSpelling = 100;

const escapes: readonly Escape[] = [percent, backslash, html, quotedPrintable];

/**
 * Shows all that a reader could see in bytes: themselves, what one kind of escape hides, and what another kind hides below it; a third time for
 * percent-encoding. Each but the deepest also without line breaks, as base64 and keys are wrapped.
 */
export function eachEncodedForm(bytes: Uint8Array, show: (view: EncodedForm) => void): void {
  const whole = plainForm(bytes);
  showUnwrapped(whole, show);
  for (const outer of escapes) {
    const view = decoded(whole, outer);
    if (!view) continue;
    showUnwrapped(view, show);
    for (const inner of escapes) {
      const deeper = decoded(view, inner);
      if (!deeper) continue;
      show(deeper);
      const deepest = outer === percent && inner === percent ? decoded(deeper, percent) : undefined;
      if (deepest) show(deepest);
    }
  }
}

function showUnwrapped(view: EncodedForm, show: (view: EncodedForm) => void): void {
  show(view);
  const unwrapped = withoutBreaks(view);
  if (unwrapped) show(unwrapped);
}

const isBreak = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d;
const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || isBreak(byte);

/** Without line breaks and the white space around them. `undefined` where there are none. */
export function withoutBreaks(source: EncodedForm): EncodedForm | undefined {
  const { bytes } = source;
  let view: Decoded | undefined;
  for (let [at, end] = [0, 0]; at < bytes.length; at++) {
    if (!isBreak(bytes[at])) continue;
    let from = at;
    while (from > end && isSpace(bytes[from - 1])) from--;
    while (isSpace(bytes[at + 1])) at++;
    end = at + 1;
    view ??= new Decoded(source);
    view.replace(from, end, []);
  }
  return view?.end();
}
