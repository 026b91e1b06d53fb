/**
 * What a person would see of a page, by boxes and hit tests. Every function runs in the page, so that
 * this file imports nothing: `looking.ts` sends it there as it stands.
 */

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Seen {
  readonly box: Box;
  /** Something that does not scroll takes a part of it away. */
  readonly isCut: boolean;
}

interface Piece extends Seen {
  readonly node: Text;
  readonly element: Element;
}

/** Rounding of places; a letter may also lean out of its box. */
const slackPx = 2;

function parentOf(node: Node): Element | null {
  if (node.parentElement !== null) return node.parentElement;
  const root = node.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

function ancestorsOf(element: Element): readonly Element[] {
  const found: Element[] = [];
  for (let at: Element | null = element; at !== null; at = parentOf(at)) found.push(at);
  return found;
}

function* within(root: Node): Generator<Node> {
  const isShut = root instanceof Element && (root.hasAttribute("inert") || root.matches("script, style, option"));
  if (isShut) return;
  yield root;
  if (root instanceof Element && root.shadowRoot !== null) yield* within(root.shadowRoot);
  for (const child of root.childNodes) yield* within(child);
}

function both(one: Box, other: Box): Box {
  return {
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  };
}

function isEmpty({ left, top, right, bottom }: Box): boolean {
  return right - left < 1 || bottom - top < 1;
}

/** The part of the box that `at` leaves of it. `undefined`: `at` hides it on purpose, as for a screen reader. */
function clip(at: Element, style: CSSStyleDeclaration, box: Box, isCut: boolean): Seen | undefined {
  if (style.clipPath.startsWith("inset(50%")) return undefined;
  const [x, y] = [style.overflowX, style.overflowY];
  if (style.display === "inline" || style.display === "contents" || (x === "visible" && y === "visible"))
    return { box, isCut };
  const edge = at.getBoundingClientRect();
  if (edge.width < slackPx || edge.height < slackPx) return undefined;
  const left = both(
    box,
    x === "visible" ? { ...box, top: -1e9, bottom: 1e9 } : { ...rect(edge), top: -1e9, bottom: 1e9 },
  );
  const seen = both(left, y === "visible" ? box : { ...rect(edge), left: -1e9, right: 1e9 });
  const isHard = (overflow: string): boolean => overflow === "hidden" || overflow === "clip";
  const lostX = box.right - box.left - (seen.right - seen.left);
  const lostY = box.bottom - box.top - (seen.bottom - seen.top);
  // The box of a letter is higher than its ink.
  const cuts = (isHard(x) && lostX > slackPx) || (isHard(y) && lostY > (box.bottom - box.top) * 0.4);
  return { box: seen, isCut: isCut || cuts };
}

function rect({ left, top, right, bottom }: DOMRect): Box {
  return { left, top, right, bottom };
}

/** What is in sight of a box of the element. */
function seenOf(element: Element, given: Box): Seen | undefined {
  let seen: Seen = { box: given, isCut: false };
  let position = "static";
  for (const at of ancestorsOf(element)) {
    const style = getComputedStyle(at);
    // A box that is placed in the page is not clipped by what lies between.
    if (position === "absolute" && style.position === "static" && !/layout|paint|content/.test(style.contain)) continue;
    const next = clip(at, style, seen.box, seen.isCut);
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

function isDrawn(element: Element): boolean {
  if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
  return !/^rgba\(.*, 0\)$|^transparent$/.test(getComputedStyle(element).color);
}

function piecesOf(root: Node): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const node of within(root)) {
    if (!(node instanceof Text) || node.data.trim() === "") continue;
    const element = parentOf(node);
    if (element === null || !isDrawn(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      const seen = isEmpty(line) ? undefined : seenOf(element, line);
      if (seen !== undefined) pieces.push({ ...seen, node, element });
    }
  }
  return pieces;
}

function said(text: string): string {
  return JSON.stringify(text.trim().replaceAll(/\s+/g, " ").slice(0, 60));
}

function placed(element: Element): string {
  const named = ancestorsOf(element).filter(({ classList }) => classList.length > 0);
  return named
    .slice(0, 2)
    .map(({ classList }) => `.${classList[0]}`)
    .join(" in ");
}

/** Everything at the point, the topmost first. */
function stackAt(x: number, y: number): readonly Element[] {
  return document.elementsFromPoint(x, y).flatMap((element) => {
    const inside = element.shadowRoot?.elementsFromPoint(x, y) ?? [];
    return [...inside.filter((each) => each.getRootNode() === element.shadowRoot), element];
  });
}

function isOpaque(element: Element): boolean {
  const alpha = /^rgba\(.*, ([\d.]+)\)$/.exec(getComputedStyle(element).backgroundColor)?.[1];
  return alpha === undefined || Number(alpha) > 0.9;
}

/** Whether both texts show at the point: nothing opaque lies between them. */
function showBoth(one: Element, other: Element, x: number, y: number): boolean {
  const stack = stackAt(x, y);
  const [upper, lower] = [stack.indexOf(one), stack.indexOf(other)].toSorted((a, b) => a - b);
  if (upper === undefined || lower === undefined || upper === -1) return false;
  const below = stack[lower]!;
  return !stack.slice(0, lower).some((each) => each !== below && !each.contains(below) && isOpaque(each));
}

/** Of each line the middle half: lines that stand close touch each other with the rest of their boxes. */
function inkOf({ left, top, right, bottom }: Box): Box {
  const quarter = (bottom - top) / 4;
  return { left: left + 1, top: top + quarter, right: right - 1, bottom: bottom - quarter };
}

function overlapsOf(pieces: readonly Piece[]): readonly string[] {
  const inks = pieces.map((piece) => ({ ...piece, ink: inkOf(piece.box) }));
  return inks.flatMap((one, at) =>
    inks.slice(at + 1).flatMap((other) => {
      const common = both(one.ink, other.ink);
      if (one.node === other.node || isEmpty(common)) return [];
      const [x, y] = [(common.left + common.right) / 2, (common.top + common.bottom) / 2];
      if (!showBoth(one.element, other.element, x, y)) return [];
      return [`${said(one.node.data)} lies over ${said(other.node.data)} (${placed(one.element)})`];
    }),
  );
}

/** Elements that say or show their whole text when a person points at them or presses them. */
const opening =
  "[title], a[href], summary, tr[tabindex], [role=option], [role=menuitem], [aria-expanded], :is(ul, ol):has([aria-current]) button";

function opens(element: Element): boolean {
  const isControlled = element.id !== "" && document.querySelector(`[aria-expanded][aria-controls="${element.id}"]`);
  return element.matches(opening) || Boolean(isControlled);
}

function cutsOf(pieces: readonly Piece[]): readonly string[] {
  return pieces.flatMap(({ isCut, node, element }) => {
    const isShort = ancestorsOf(element)
      .slice(0, 4)
      .some((at) => getComputedStyle(at).textOverflow === "ellipsis" && at.scrollWidth > at.clientWidth + slackPx);
    if (!isCut && !isShort) return [];
    const isReadable = ancestorsOf(element).some(opens);
    return isReadable ? [] : [`${said(node.data)} is cut (${placed(element)})`];
  });
}

const pressable = "button, a[href], summary, select, input, textarea, [role=button], [role=tab], [role=option]";

function belongs(hit: Element, element: Element): boolean {
  return ancestorsOf(hit).includes(element) || hit.closest("label")?.contains(element) === true;
}

function coveredOf(root: Node): readonly string[] {
  return [...within(root)].flatMap((element) => {
    if (!(element instanceof HTMLElement) || !element.matches(pressable) || !element.checkVisibility()) return [];
    const { opacity, pointerEvents } = getComputedStyle(element);
    if (opacity === "0" || pointerEvents === "none") return [];
    const isHit = (): boolean => {
      const point = middleOf(element);
      const [hit] = point === undefined ? [] : stackAt(point.x, point.y);
      return hit === undefined || belongs(hit, element);
    };
    if (isHit()) return [];
    // A head that stays may lie over a row that scrolls.
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    if (!element.isConnected || isHit()) return [];
    return [`${said(element.getAttribute("aria-label") ?? element.innerText)} is covered (${placed(element)})`];
  });
}

/** The middle of the element, if it is in sight. */
export function middleOf(element: Element): { readonly x: number; readonly y: number } | undefined {
  const [first] = element.getClientRects();
  const seen = first === undefined || isEmpty(first) ? undefined : seenOf(element, rect(first));
  if (seen === undefined || isEmpty(seen.box) || first === undefined) return undefined;
  const isLarge = first.height > 200;
  const { left, top, right, bottom } = isLarge ? seen.box : first;
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const isInSight = x > seen.box.left && x < seen.box.right && y > seen.box.top && y < seen.box.bottom;
  return isInSight ? { x, y } : undefined;
}

/** The dialog over the page, or the page. */
function shown(): Element {
  return [...document.querySelectorAll("[role=dialog], [role=alertdialog]")].at(-1) ?? document.body;
}

export function faultsInSight(): readonly string[] {
  // The hit tests of texts go through everything that takes no press.
  const through = new CSSStyleSheet();
  through.replaceSync("* { pointer-events: auto !important; }");
  document.adoptedStyleSheets.push(through);
  const pieces = piecesOf(shown());
  const texts = [...overlapsOf(pieces), ...cutsOf(pieces)];
  document.adoptedStyleSheets.pop();
  return [...new Set([...texts, ...coveredOf(shown())])];
}

const textTypes = "text, search, url, email, password, tel, number".split(", ");

/** Every field that takes letters. */
export function fieldsInSight(): readonly HTMLElement[] {
  return [...within(shown())].filter((element): element is HTMLElement => {
    if (!(element instanceof HTMLElement) || !element.checkVisibility()) return false;
    if (element instanceof HTMLInputElement)
      return textTypes.includes(element.type) && !element.disabled && !element.readOnly;
    if (element instanceof HTMLTextAreaElement) return !element.disabled && !element.readOnly;
    return element.getAttribute("contenteditable") === "true";
  });
}

export function valueOf(element: HTMLElement): string {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return element.value;
  return element.innerText;
}
