/**
 * What a person would see of a page, by boxes and hit tests. It runs in the page: `looking.ts` brings it there.
 */

import {
  ancestorsOf,
  both,
  type Box,
  coverAt,
  inTheMiddle,
  isEmpty,
  isVisible,
  type Piece,
  piecesOf,
  type Point,
  seenOf,
  slackPx,
  stackAt,
  within,
} from "./boxes.ts";

interface Aim {
  readonly name: string;
  /** Where to click. Absent: it cannot be seen. */
  readonly point: Point | undefined;
}

export interface Sight {
  look(): Promise<readonly string[]>;
  /** How many fields of the page take letters. */
  findFields(): number;
  /** Scrolls the field into view. `undefined`: it left the page. */
  aim(at: number): Aim | undefined;
  hasChanged(at: number): boolean;
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
      const point = { x: (common.left + common.right) / 2, y: (common.top + common.bottom) / 2 };
      const isApart = [one, other].some(({ element }) => coverAt(element, point) !== undefined);
      return isApart ? [] : [`${said(one.node.data)} lies over ${said(other.node.data)} (${placed(one.element)})`];
    }),
  );
}

function isHidden({ node, element }: Piece): boolean {
  const range = document.createRange();
  range.selectNodeContents(node);
  return [...range.getClientRects()].some((line) => {
    const box = isEmpty(line) ? undefined : seenOf(element, line)?.box;
    if (box === undefined || isEmpty(box)) return false;
    const { left, top, right, bottom } = inkOf(box);
    const y = (top + bottom) / 2;
    return [left, (left + right) / 2, right].some((x) => coverAt(element, { x, y }) !== undefined);
  });
}

function hiddenOf(pieces: readonly Piece[]): readonly string[] {
  // A text of several lines has a piece for each of them.
  return [...new Map(pieces.map((piece) => [piece.node, piece])).values()]
    .filter((piece) => isHidden(piece) && inTheMiddle(piece.element, () => isHidden(piece)))
    .map(({ node, element }) => `${said(node.data)} lies under something (${placed(element)})`);
}

/** Elements that say or show their whole text when a person points at them or presses them. */
const opening = "[title], a[href], summary, tr[tabindex], [role=option], [role=menuitem], [aria-expanded]";

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

/** Whether a press on the middle of the element is its own, if any part of it is in sight. */
function isHit(element: Element): boolean | undefined {
  const [first] = element.getClientRects();
  const box = first === undefined || isEmpty(first) ? undefined : seenOf(element, first)?.box;
  if (first === undefined || box === undefined || isEmpty(box)) return undefined;
  const [hit] = stackAt({ x: (first.left + first.right) / 2, y: (first.top + first.bottom) / 2 });
  if (hit === undefined) return false;
  return ancestorsOf(hit).includes(element) || hit.closest("label")?.contains(element) === true;
}

function coveredOf(root: Node): readonly string[] {
  return [...within(root)].flatMap((element) => {
    if (!(element instanceof HTMLElement) || !element.matches(pressable) || !isVisible(element)) return [];
    if (element.closest("[inert]") !== null || (isHit(element) ?? true)) return [];
    // A head that stays may lie over a row that scrolls.
    if (inTheMiddle(element, () => isHit(element)) ?? true) return [];
    return [`${said(element.getAttribute("aria-label") ?? element.innerText)} is covered (${placed(element)})`];
  });
}

/** The dialog over the page, or the page. */
function shown(): Element {
  return [...document.querySelectorAll("[role=dialog], [role=alertdialog]")].at(-1) ?? document.body;
}

/** Runs with hit tests that go through nothing. */
function solidly<T>(root: Node, test: () => T): T {
  const solid = new CSSStyleSheet();
  solid.replaceSync("* { pointer-events: auto !important; }");
  const shadows = [...within(root)].flatMap((node) => (node instanceof Element && node.shadowRoot) || []);
  const roots = [document, ...shadows];
  for (const each of roots) each.adoptedStyleSheets.push(solid);
  try {
    return test();
  } finally {
    for (const each of roots) each.adoptedStyleSheets = each.adoptedStyleSheets.filter((sheet) => sheet !== solid);
  }
}

/** Until what loads is there and drawn. */
async function drawn(): Promise<void> {
  const frame = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(done));
  await frame();
  while (document.querySelector(".loading") !== null) await frame();
  await document.fonts.ready;
  await frame();
}

const textTypes = "text, search, url, email, password, tel, number".split(", ");

function takesLetters(node: Node): node is HTMLElement {
  if (!(node instanceof HTMLElement) || !isVisible(node) || node.closest("[inert]") !== null) return false;
  if (node instanceof HTMLInputElement) return textTypes.includes(node.type) && !node.disabled && !node.readOnly;
  if (node instanceof HTMLTextAreaElement) return !node.disabled && !node.readOnly;
  return node.getAttribute("contenteditable") === "true";
}

function valueOf(element: HTMLElement): string {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return element.value;
  return element.textContent;
}

let fields: readonly HTMLElement[] = [];
let before = "";

globalThis.sight = {
  async look() {
    await drawn();
    const root = shown();
    const texts = solidly(root, () => {
      const pieces = piecesOf(root);
      return [...overlapsOf(pieces), ...hiddenOf(pieces), ...cutsOf(pieces)];
    });
    return [...new Set([...texts, ...coveredOf(root)])];
  },
  findFields() {
    fields = [...within(shown())].filter(takesLetters);
    return fields.length;
  },
  aim(at) {
    const field = fields[at];
    if (!field?.isConnected) return undefined;
    field.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    before = valueOf(field);
    const [label] = field instanceof HTMLInputElement ? [...(field.labels ?? [])] : [];
    const name = said(field.getAttribute("aria-label") ?? label?.innerText ?? field.className);
    const box = seenOf(field, field.getBoundingClientRect())?.box;
    if (box === undefined || isEmpty(box)) return { name, point: undefined };
    return { name, point: { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 } };
  },
  hasChanged: (at) => fields[at] !== undefined && valueOf(fields[at]) !== before,
};
