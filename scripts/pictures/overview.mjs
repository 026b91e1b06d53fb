import { arrow, box, label, picture } from "./draw.mjs";

export const overview = picture({
  title: "The way of a call through Keyhole",
  description:
    "An agent calls the kernel. The kernel decides by the policy, can ask an approver, runs the tool in an isolate, and records each step in the audit log. Each request of the tool passes the gate, which lets granted requests through to a broker.",
  height: 372,
  parts: [
    box({ x: 16, y: 34, w: 108, h: 56 }, "agent", ["or model"]),
    arrow([
      [126, 62],
      [192, 62],
    ]),
    label(159, 52, "call", { anchor: "middle", size: 13, tone: "muted" }),
    box({ x: 194, y: 24, w: 172, h: 76 }, "kernel", ["policy, approvals,", "limits"], { tone: "action" }),
    box({ x: 436, y: 34, w: 108, h: 56 }, "approver", ["a person"], { tone: "ask" }),
    arrow(
      [
        [368, 62],
        [434, 62],
      ],
      { tone: "ask", both: true },
    ),
    label(401, 52, "asks", { anchor: "middle", size: 13, tone: "ask" }),
    arrow([
      [280, 102],
      [280, 152],
    ]),
    label(290, 132, "runs", { size: 13, tone: "muted" }),
    box({ x: 194, y: 154, w: 172, h: 76 }, "isolate", ["the tool's code"], { kind: "chamber" }),
    arrow(
      [
        [280, 232],
        [280, 282],
      ],
      { tone: "cross", both: true },
    ),
    label(290, 262, "requests", { size: 13, tone: "cross" }),
    box({ x: 208, y: 284, w: 144, h: 64 }, "gate", ["checks the grants"], { tone: "cross" }),
    arrow(
      [
        [354, 316],
        [412, 316],
      ],
      { tone: "cross", both: true },
    ),
    label(384, 306, "granted", { anchor: "middle", size: 13, tone: "cross" }),
    box({ x: 414, y: 278, w: 130, h: 76 }, "broker", ["network, files,", "databases"]),
    box({ x: 16, y: 164, w: 108, h: 56 }, "audit log", ["all can verify"], { tone: "allow" }),
    arrow(
      [
        [230, 102],
        [230, 128],
        [70, 128],
        [70, 162],
      ],
      { tone: "allow" },
    ),
    label(78, 122, "records", { size: 13, tone: "allow" }),
    arrow(
      [
        [206, 316],
        [70, 316],
        [70, 222],
      ],
      { tone: "allow" },
    ),
  ],
});
