import { arrow, box, keyhole, label, picture } from "./draw.mjs";

const wallX = 292;

/** @type {readonly { y: number, title: string, target: string, state: "open" | "shut" }[]} */
const openings = [
  { y: 92, title: "network", target: "api.example.com /issues", state: "open" },
  { y: 162, title: "files", target: "notes/**", state: "open" },
  { y: 232, title: "databases", target: "no grant", state: "shut" },
  { y: 302, title: "secrets", target: "no grant", state: "shut" },
];

/** @param {(typeof openings)[number]} opening */
function row({ y, title, target, state }) {
  const isOpen = state === "open";
  return [
    isOpen
      ? arrow(
          [
            [208, y],
            [wallX - 12, y],
          ],
          { tone: "cross", both: true },
        )
      : arrow(
          [
            [208, y],
            [wallX - 16, y],
          ],
          { tone: "deny", dashed: true },
        ),
    keyhole(wallX, y, state),
    isOpen
      ? arrow(
          [
            [wallX + 12, y],
            [358, y],
          ],
          { tone: "cross", both: true },
        )
      : "",
    box({ x: 360, y: y - 26, w: 184, h: 52 }, title, [target], isOpen ? { tone: "cross" } : {}),
  ].join("");
}

export const boundary = picture({
  title: "The boundary of a call",
  description:
    "A tool in its isolate has one way out, the gate of the kernel. Two grants open the gate for one host and one folder. Requests without a grant end at the gate.",
  height: 392,
  parts: [
    label(112, 34, "isolate", { anchor: "middle", bold: true, tone: "muted" }),
    label(wallX, 34, "gate", { anchor: "middle", bold: true, tone: "muted" }),
    label(452, 34, "brokers", { anchor: "middle", bold: true, tone: "muted" }),
    `<rect x="16" y="52" width="192" height="290" rx="8" class="chamber" stroke-width="2"/>`,
    label(112, 180, "tool", { anchor: "middle", bold: true, size: 18, tone: "chamber-text" }),
    label(112, 204, "untrusted code", { anchor: "middle", size: 13, tone: "chamber-text" }),
    label(112, 222, "its input, its memory", { anchor: "middle", size: 13, tone: "chamber-text" }),
    `<path d="M${wallX} 52V342" class="arrow s-wall" style="stroke-width:3"/>`,
    ...openings.map(row),
    label(280, 376, "A grant of the policy opens the gate for this one call.", {
      anchor: "middle",
      size: 14,
      tone: "muted",
    }),
  ],
});
