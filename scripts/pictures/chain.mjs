import { arrow, box, label, picture } from "./draw.mjs";

const events = [
  { x: 16, name: "1", kind: "call.invoked" },
  { x: 154, name: "2", kind: "policy.decided" },
  { x: 292, name: "3", kind: "tool.started" },
  { x: 430, name: "4", kind: "tool.completed" },
];

/** @param {(typeof events)[number]} event @param {number} index */
function draw({ x, name, kind }, index) {
  return [
    box({ x, y: 56, w: 114, h: 74 }, `event ${name}`, [kind, index === 0 ? "before: none" : `before: digest ${index}`]),
    index === 0
      ? ""
      : arrow(
          [
            [x - 1, 93],
            [x - 23, 93],
          ],
          { tone: "allow" },
        ),
    `<path d="M${x + 57} 130V190" class="arrow s-plain"/>`,
  ].join("");
}

/** @param {(typeof events)[number]} event @param {number} index */
function changed({ x, name }, index) {
  const isChanged = index === 1;
  return [
    box({ x, y: 356, w: 114, h: 46 }, `event ${name}`, [], isChanged ? { tone: "deny" } : {}),
    index === 0
      ? ""
      : arrow(
          [
            [x - 1, 379],
            [x - 23, 379],
          ],
          { tone: index === 2 ? "deny" : "allow", dashed: index === 2 },
        ),
  ].join("");
}

export const chain = picture({
  title: "The chain and its checkpoint",
  description:
    "Each event holds the digest of the event before it. A checkpoint holds the Merkle root over all events, and a key signs it. A changed event breaks the link behind it.",
  height: 450,
  parts: [
    label(16, 34, "Each event holds the digest of the event before it", { bold: true }),
    ...events.map(draw),
    `<path d="M73 190H487" class="arrow s-plain"/>`,
    arrow([
      [280, 190],
      [280, 216],
    ]),
    box(
      { x: 130, y: 218, w: 300, h: 72 },
      "checkpoint",
      ["length 4, Merkle root over all events", "signed with your key"],
      {
        tone: "action",
      },
    ),
    label(16, 336, "A changed event breaks the link behind it", { bold: true }),
    ...events.map(changed),
    label(211, 428, "changed", { anchor: "middle", size: 14, tone: "deny" }),
    label(349, 428, "digest differs", { anchor: "middle", size: 14, tone: "deny" }),
  ],
});
