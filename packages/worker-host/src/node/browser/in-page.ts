import type { Wanted } from "./request.ts";

/** Elements of one selector. */
const parts = 200;
/** Characters of all parts of a page. */
const allPartsLength = 500_000;

/** Characters that the script sends. */
export interface PageBounds {
  readonly textLength: number;
  readonly titleLength: number;
  readonly urlLength: number;
  readonly partLength: number;
  /** A title, an address or a part that is longer is left out, and not cut. */
  readonly isWhole: boolean;
}

/**
 * The script that reads a page. It runs in its own world, whose functions the page cannot replace.
 * The page can still replace named members of documents and forms, so the script takes each
 * function and accessor from its prototype. It cuts each text before it sends it.
 */
export function readingScript(
  { textLength, titleLength, urlLength, partLength, isWhole }: PageBounds,
  extract: readonly Wanted[],
): string {
  return `(() => {
  const call = Function.prototype.call.bind(Function.prototype.call);
  const getter = (prototype, name) => {
    const { get } = Object.getOwnPropertyDescriptor(prototype, name);
    return (self) => call(get, self);
  };
  const innerText = getter(HTMLElement.prototype, "innerText");
  const textContent = getter(Node.prototype, "textContent");
  const title = getter(Document.prototype, "title");
  const root = getter(Document.prototype, "documentElement");
  const find = (selector) => call(Document.prototype.querySelectorAll, document, selector);
  const attribute = (element, name) => call(Element.prototype.getAttribute, element, name);
  const textOf = (element) => {
    const text = element instanceof HTMLElement ? innerText(element) : textContent(element);
    return String(text ?? "");
  };
  const cut = (text, length) => (text.length <= length ? text : ${isWhole} ? "" : text.slice(0, length));
  let left = ${allPartsLength};
  const extracted = ${JSON.stringify(extract)}.map(({ selector, attribute: name }) => {
    let found;
    try {
      found = find(selector);
    } catch {
      return { count: 0, values: [], isInvalid: true };
    }
    const values = [];
    for (let at = 0; at < found.length && at < ${parts} && left > 0; at++) {
      const value = name === undefined ? textOf(found[at]) : attribute(found[at], name);
      const kept = value === null ? null : cut(value, Math.min(${partLength}, left));
      left -= kept === null ? 1 : kept.length + 1;
      values.push(kept);
    }
    return { count: found.length, values };
  });
  const element = root(document);
  const text = ${textLength} > 0 && element ? textOf(element) : "";
  return {
    url: cut(String(location.href), ${urlLength}),
    title: cut(title(document), ${titleLength}),
    text: text.slice(0, ${textLength}),
    textLength: text.length,
    height: element ? Math.ceil(getter(Element.prototype, "scrollHeight")(element)) : 0,
    extracted,
  };
})()`;
}
