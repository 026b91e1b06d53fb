// The parts that the pictures of the docs are drawn with. A picture is 560 wide, so that its text is readable on a phone.

/** @typedef {"wall" | "plain" | "allow" | "ask" | "deny" | "cross" | "action"} Tone */
/** @typedef {Tone | "muted" | "chamber-text"} TextTone */
/** @typedef {{ tone?: TextTone, anchor?: "start" | "middle" | "end", size?: number, bold?: boolean, mono?: boolean }} TextStyle */

const width = 560;

/** The colours of the playground's tokens, by meaning: in light, in dark. */
const colours = {
  page: ["#ffffff", "#111319"],
  sunken: ["#f6f7f9", "#1a1d26"],
  line: ["#c9cdd6", "#3a4050"],
  text: ["#14161c", "#e8eaf0"],
  muted: ["#505664", "#a7acba"],
  wall: ["#2a3042", "#7c8397"],
  chamber: ["#07080c", "#07080c"],
  "chamber-text": ["#e8eaf0", "#e8eaf0"],
  action: ["#3a3fc9", "#a3a9ff"],
  allow: ["#0a6a3f", "#55d397"],
  ask: ["#7c4d00", "#efb649"],
  deny: ["#b01c22", "#ff8d85"],
  cross: ["#8b1fb4", "#dc97ff"],
};

/** @param {0 | 1} theme */
function variables(theme) {
  return Object.entries(colours)
    .map(([name, both]) => `--${name}:${both[theme]}`)
    .join(";");
}

const style = [
  `svg{${variables(0)}}`,
  `@media (prefers-color-scheme:dark){svg{${variables(1)}}}`,
  "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--text)}",
  ".mono{font-family:ui-monospace,Menlo,Consolas,monospace}",
  ...["wall", "allow", "ask", "deny", "cross", "action", "muted", "chamber-text"].map(
    (name) => `.t-${name}{fill:var(--${name})}`,
  ),
  ".box{fill:var(--sunken);stroke:var(--line)}",
  ".chamber{fill:var(--chamber);stroke:var(--wall)}",
  ...["wall", "allow", "ask", "deny", "cross", "action"].map(
    (name) => `.s-${name}{stroke:var(--${name})}.f-${name}{fill:var(--${name})}`,
  ),
  ".s-plain{stroke:var(--muted)}.f-plain{fill:var(--muted)}",
  ".arrow{fill:none;stroke-width:1.75}",
].join("");

/** @param {string} text */
function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/**
 * @param {number} x
 * @param {number} y the base line
 * @param {string} text
 * @param {TextStyle} [style]
 */
export function label(x, y, text, { tone, anchor = "start", size = 15, bold = false, mono = false } = {}) {
  const classes = [tone === undefined ? "" : `t-${tone}`, mono ? "mono" : ""].filter(Boolean).join(" ");
  const weight = bold ? ' font-weight="600"' : "";
  const named = classes === "" ? "" : ` class="${classes}"`;
  return `<text x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}"${weight}${named}>${escape(text)}</text>`;
}

/**
 * A box with a title and lines below it.
 *
 * @param {{ x: number, y: number, w: number, h: number }} place
 * @param {string} title
 * @param {readonly string[]} [lines]
 * @param {{ kind?: "box" | "chamber", tone?: Tone }} [look]
 */
export function box({ x, y, w, h }, title, lines = [], { kind = "box", tone } = {}) {
  /** @type {{ tone?: TextTone }} */
  const text = kind === "chamber" ? { tone: "chamber-text" } : {};
  const edge = tone === undefined ? "" : ` s-${tone}`;
  const top = y + h / 2 - lines.length * 9 + 5;
  return [
    `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="6" class="${kind}${edge}" stroke-width="1.5"/>`,
    label(x + w / 2, top, title, { anchor: "middle", bold: true, ...text }),
    ...lines.map((line, index) =>
      label(x + w / 2, top + 19 + index * 17, line, { anchor: "middle", size: 13, tone: "muted", ...text }),
    ),
  ].join("");
}

/**
 * A line with a head at its end, along points.
 *
 * @param {readonly (readonly [number, number])[]} points
 * @param {{ tone?: Tone, both?: boolean, dashed?: boolean }} [look]
 */
export function arrow(points, { tone = "plain", both = false, dashed = false } = {}) {
  const path = points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
  const heads = [head(points.at(-2), points.at(-1), tone), both ? head(points[1], points[0], tone) : ""].join("");
  return `<path d="${path}" class="arrow s-${tone}"${dashed ? ' stroke-dasharray="5 4"' : ""}/>${heads}`;
}

/**
 * @param {readonly [number, number] | undefined} from
 * @param {readonly [number, number] | undefined} to
 * @param {Tone} tone
 */
function head(from = [0, 0], to = [0, 0], tone) {
  const [x, y] = to;
  const angle = (Math.atan2(y - from[1], x - from[0]) * 180) / Math.PI;
  return `<path d="M${x} ${y}l-9 -5v10z" class="f-${tone}" transform="rotate(${Math.round(angle)} ${x} ${y})"/>`;
}

/**
 * The keyhole in the wall: filled where a grant opens it, crossed out where none does.
 *
 * @param {number} x
 * @param {number} y
 * @param {"open" | "shut"} state
 */
export function keyhole(x, y, state) {
  const tone = state === "open" ? "cross" : "wall";
  const shape = `<path d="M${x} ${y - 9}a5.5 5.5 0 0 1 3 10l2.5 9h-11l2.5 -9a5.5 5.5 0 0 1 3 -10z" class="f-${tone}"/>`;
  return state === "open" ? shape : `${shape}<path d="M${x - 9} ${y - 9}l18 18" class="arrow s-deny"/>`;
}

/**
 * @param {{ title: string, description: string, height: number, parts: readonly string[] }} picture
 * @returns {string} an SVG document that follows the theme of its reader
 */
export function picture({ title, description, height, parts }) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">`,
    `<title id="t">${escape(title)}</title><desc id="d">${escape(description)}</desc>`,
    `<style>${style}</style>`,
    `<rect width="${width}" height="${height}" rx="10" style="fill:var(--page)"/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}
