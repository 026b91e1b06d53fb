/** Where the things of a page are, and what lies over them. */

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Seen {
  readonly box: Box;
  /** Something that does not scroll takes a part of it away. */
  readonly isCut: boolean;
}

export interface Piece extends Seen {
  readonly node: Text;
  readonly element: Element;
}

/** Rounding of places; a letter may also lean out of its box. */
export const slackPx = 2;

function parentOf(node: Node): Element | null {
  if (node.parentElement !== null) return node.parentElement;
  const root = node.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

export function ancestorsOf(element: Element): readonly Element[] {
  const found: Element[] = [];
  for (let at: Element | null = element; at !== null; at = parentOf(at)) found.push(at);
  return found;
}

export function* within(root: Node): Generator<Node> {
  yield root;
  if (root instanceof Element && root.shadowRoot !== null) yield* within(root.shadowRoot);
  for (const child of root.childNodes) yield* within(child);
}

export function both(one: Box, other: Box): Box {
  return {
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  };
}

export function isEmpty({ left, top, right, bottom }: Box): boolean {
  return right - left < 1 || bottom - top < 1;
}

/** The part of the box that `at` leaves of it. `undefined`: `at` hides it on purpose, as for a screen reader. */
function clip(at: Element, style: CSSStyleDeclaration, { box, isCut }: Seen): Seen | undefined {
  if (style.clipPath.startsWith("inset(50%")) return undefined;
  const [x, y] = [style.overflowX, style.overflowY];
  if (style.display === "inline" || style.display === "contents" || (x === "visible" && y === "visible"))
    return { box, isCut };
  const edge = at.getBoundingClientRect();
  if (edge.width < slackPx || edge.height < slackPx) return undefined;
  const sides = x === "visible" ? {} : { left: Math.max(box.left, edge.left), right: Math.min(box.right, edge.right) };
  const ends = y === "visible" ? {} : { top: Math.max(box.top, edge.top), bottom: Math.min(box.bottom, edge.bottom) };
  const seen = { ...box, ...sides, ...ends };
  const isHard = (overflow: string): boolean => overflow === "hidden" || overflow === "clip";
  const lostX = box.right - box.left - (seen.right - seen.left);
  const lostY = box.bottom - box.top - (seen.bottom - seen.top);
  // The box of a letter is higher than its ink.
  const cuts = (isHard(x) && lostX > slackPx) || (isHard(y) && lostY > (box.bottom - box.top) * 0.4);
  return { box: seen, isCut: isCut || cuts };
}

/** What is in sight of a box of the element. */
export function seenOf(element: Element, given: Box): Seen | undefined {
  let seen: Seen = { box: given, isCut: false };
  let position = "static";
  for (const at of ancestorsOf(element)) {
    const style = getComputedStyle(at);
    // A box that is placed in the page is not clipped by what lies between.
    if (position === "absolute" && style.position === "static" && !/layout|paint|content/.test(style.contain)) continue;
    const next = clip(at, style, seen);
    if (next === undefined) return undefined;
    seen = next;
    if (isEmpty(seen.box)) return seen.isCut ? seen : undefined;
    position = style.position;
    if (position === "fixed") break;
  }
  const box = both(seen.box, { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  if (isEmpty(box)) return undefined;
  // Nobody scrolls to the left of the page.
  return { box, isCut: seen.isCut || seen.box.left < -slackPx };
}

export function isVisible(element: Element): boolean {
  return element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

/** `script` and others have no box. */
function isDrawn(element: Element): boolean {
  return isVisible(element) && !/^rgba\(.*, 0\)$/.test(getComputedStyle(element).color);
}

export function piecesOf(root: Node): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const node of within(root)) {
    if (!(node instanceof Text) || node.data.trim() === "") continue;
    const element = parentOf(node);
    // The text of these is not laid out by its node.
    if (element === null || element.matches("option, textarea") || !isDrawn(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      const seen = isEmpty(line) ? undefined : seenOf(element, line);
      if (seen !== undefined) pieces.push({ ...seen, node, element });
    }
  }
  return pieces;
}

/** Everything at the point, the topmost first. */
export function stackAt({ x, y }: Point): readonly Element[] {
  return document.elementsFromPoint(x, y).flatMap((element) => {
    const inside = element.shadowRoot?.elementsFromPoint(x, y) ?? [];
    return [...inside.filter((each) => each.getRootNode() === element.shadowRoot), element];
  });
}

function isOpaque(element: Element): boolean {
  const alpha = /^rgba\(.*, ([\d.]+)\)$/.exec(getComputedStyle(element).backgroundColor)?.[1];
  return alpha === undefined || Number(alpha) > 0.9;
}

/** Something opaque lies over the element at the point. */
export function coverAt(element: Element, point: Point): Element | undefined {
  // Asking for the topmost one is the cheaper question.
  if (element.shadowRoot === null && document.elementFromPoint(point.x, point.y) === element) return undefined;
  const stack = stackAt(point);
  const above = stack.slice(0, Math.max(stack.indexOf(element), 0));
  return above.find((each) => !ancestorsOf(element).includes(each) && !element.contains(each) && isOpaque(each));
}

/** What the test says while the element is in the middle of what scrolls it. */
export function inTheMiddle<T>(element: Element, test: () => T): T {
  const places = ancestorsOf(element).map((at) => ({ at, left: at.scrollLeft, top: at.scrollTop }));
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const found = test();
  for (const { at, left, top } of places) at.scrollTo({ left, top, behavior: "instant" });
  return found;
}
