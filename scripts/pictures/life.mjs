import { arrow, box, label, picture } from "./draw.mjs";

/** @typedef {import("./draw.mjs").Tone} Tone */

/** @type {readonly { title: string, line: string, tone?: Tone }[]} */
const steps = [
  { title: "resolve, validate", line: "the tool exists, the input fits" },
  { title: "decide", line: "grants, rules, posture, mode", tone: "action" },
  { title: "approve", line: "a person or a passkey, if asked", tone: "ask" },
  { title: "reserve, record", line: "a slot; the start is in the log" },
  { title: "run", line: "in the isolate, until the deadline", tone: "cross" },
  { title: "validate, hash", line: "the output fits, has a digest" },
  { title: "record, answer", line: "one last event for each call", tone: "allow" },
];

const gap = 72;
const top = 20;
const centre = 210;

/** @param {(typeof steps)[number]} step @param {number} index */
function draw({ title, line, tone }, index) {
  const y = top + index * gap;
  const isLast = index === steps.length - 1;
  return [
    box({ x: 80, y, w: 260, h: 50 }, title, [line], tone === undefined ? {} : { tone }),
    isLast
      ? ""
      : arrow([
          [centre, y + 50],
          [centre, y + gap - 1],
        ]),
  ].join("");
}

/** @param {number} index @param {string} reason */
function refusal(index, reason) {
  const y = top + index * gap + 25;
  return (
    arrow(
      [
        [340, y],
        [412, y],
      ],
      { tone: "deny" },
    ) + label(420, y + 5, reason, { tone: "deny", size: 14 })
  );
}

export const life = picture({
  title: "The life of a call",
  description:
    "Seven groups of steps from top to bottom: resolve and validate, decide, approve, reserve and record, run, validate and hash, record and answer. A refusal at any step leads to the last event.",
  height: top + steps.length * gap + 20,
  parts: [
    ...steps.map(draw),
    refusal(0, "INVALID_INPUT"),
    refusal(1, "denied"),
    refusal(2, "not approved"),
    refusal(3, "no slot, no log"),
    refusal(4, "TIMEOUT"),
    label(420, top + 6 * gap + 20, "each refusal also", { size: 14, tone: "muted" }),
    label(420, top + 6 * gap + 38, "ends here", { size: 14, tone: "muted" }),
    arrow(
      [
        [412, top + 6 * gap + 25],
        [342, top + 6 * gap + 25],
      ],
      { tone: "deny" },
    ),
    `<path d="M46 ${top + gap + 25}V${top + 4 * gap + 25}" class="arrow s-plain"/>`,
    arrow([
      [46, top + gap + 25],
      [78, top + gap + 25],
    ]),
    `<path d="M46 ${top + 4 * gap + 25}H80" class="arrow s-plain"/>`,
    `<g transform="rotate(-90 36 ${top + 2.5 * gap + 25})">${label(36, top + 2.5 * gap + 25, "each request of the tool", { anchor: "middle", size: 13, tone: "muted" })}</g>`,
  ],
});
