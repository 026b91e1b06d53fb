import { arrow, box, label, picture } from "./draw.mjs";

export const edge = picture({
  title: "The parts of the edge",
  description:
    "A client sends an HTTP request with a bearer token to the gateway Worker. The gateway hands it to the kernel object of the tenant. The kernel loads a tool into a dynamic Worker through the sandbox Worker. The tool reaches the kernel through the channel of its call alone, and the kernel reaches network and R2 through brokers.",
  height: 424,
  parts: [
    box({ x: 16, y: 28, w: 112, h: 56 }, "client"),
    arrow([
      [130, 56],
      [232, 56],
    ]),
    label(181, 46, "bearer token", { anchor: "middle", size: 13, tone: "muted" }),
    box({ x: 234, y: 28, w: 168, h: 56 }, "gateway Worker", ["names the sender"]),
    arrow([
      [318, 86],
      [318, 128],
    ]),
    box({ x: 202, y: 130, w: 232, h: 76 }, "kernel object", ["one for each tenant:", "approvals, log in SQLite"], {
      tone: "action",
    }),
    arrow(
      [
        [200, 168],
        [132, 168],
      ],
      { tone: "cross", both: true },
    ),
    box({ x: 16, y: 130, w: 114, h: 76 }, "brokers", ["network, R2"], { tone: "cross" }),
    arrow([
      [286, 208],
      [286, 252],
    ]),
    label(278, 234, "loads", { anchor: "end", size: 13, tone: "muted" }),
    box({ x: 152, y: 254, w: 232, h: 56 }, "sandbox Worker", ["holds the isolates"]),
    arrow([
      [210, 312],
      [150, 346],
    ]),
    arrow([
      [326, 312],
      [386, 346],
    ]),
    box({ x: 16, y: 348, w: 250, h: 58 }, "tool A, session 1", ["a dynamic Worker, no network"], { kind: "chamber" }),
    box({ x: 294, y: 348, w: 250, h: 58 }, "tool A, session 2", ["a dynamic Worker, no network"], { kind: "chamber" }),
    arrow(
      [
        [500, 346],
        [500, 168],
        [436, 168],
      ],
      { tone: "cross", dashed: true, both: true },
    ),
    label(494, 240, "call", { anchor: "end", size: 13, tone: "cross" }),
    label(494, 256, "channel", { anchor: "end", size: 13, tone: "cross" }),
  ],
});
