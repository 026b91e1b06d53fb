import { arrow, box, label, picture } from "./draw.mjs";

const places = [
  {
    y: 52,
    title: "browser",
    kernel: ["in a worker", "of your page"],
    isolate: ["a worker in a frame", "without an origin"],
  },
  {
    y: 178,
    title: "Cloudflare Workers",
    kernel: ["in a Durable", "Object"],
    isolate: ["a Worker of its own,", "no network, no bindings"],
  },
  { y: 304, title: "Node", kernel: ["in your", "program"], isolate: ["an interpreter in", "WebAssembly"] },
];

/** @param {(typeof places)[number]} host */
function row({ y, title, kernel, isolate }) {
  return [
    label(20, y + 10, title, { bold: true, tone: "muted" }),
    box({ x: 20, y: y + 22, w: 176, h: 78 }, "kernel", kernel, { tone: "action" }),
    arrow(
      [
        [198, y + 61],
        [322, y + 61],
      ],
      { tone: "cross", both: true },
    ),
    label(260, y + 51, "messages", { anchor: "middle", size: 13, tone: "cross" }),
    box({ x: 324, y: y + 22, w: 216, h: 78 }, "tool", isolate, { kind: "chamber" }),
  ].join("");
}

export const hosts = picture({
  title: "One package on three hosts",
  description:
    "In a browser the kernel runs in a worker and the tool in a worker of a frame without an origin. On Cloudflare Workers the kernel runs in a Durable Object and the tool in a Worker of its own. On Node the tool runs in an interpreter in WebAssembly.",
  height: 470,
  parts: [
    label(280, 32, "One package, one hash, equal results", { anchor: "middle", bold: true }),
    ...places.map(row),
    label(280, 448, "The kernel and the tool share no object. Each message is checked.", {
      anchor: "middle",
      size: 14,
      tone: "muted",
    }),
  ],
});
