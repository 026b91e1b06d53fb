import { nodeHost } from "@keyhole/worker-host/node";
import { afterAll, describe, expect, inject, it } from "vitest";
import { moduleOf } from "../browser/open.ts";
import { type AttemptGroup, rows } from "./battery/attempt.ts";
import { judge } from "./battery/judge.ts";
import { type Bench, roomFor } from "./battery/room.ts";

let opened = 0;
const bench: Bench = {
  platform: "node",
  canary: inject("canary"),
  open(code) {
    opened += 1;
    return nodeHost({ trusted: [code] }).open(moduleOf(code));
  },
  usurp: () => Promise.reject(new Error("no attempt here takes the shell's place")),
};

/** In this order, in one isolate. */
const group: AttemptGroup = {
  name: "a group",
  layer: "tool",
  seen: "",
  on: ["node"],
  attempts: rows("made-up", [
    ["replace", "replaces what comes later needs", "JSON.parse = Promise.resolve = Map = 0; delete globalThis.URL;"],
    ["find-replaced", "", "return [JSON.parse, Promise.resolve, Map, URL].find((it) => typeof it !== 'function')"],
    ["add", "", "Object.prototype.then = Array.prototype[0] = 'left'; globalThis.left = 'left';"],
    ["find-added", "", "return ({}).then ?? [][0] ?? globalThis.left"],
    ["chain", "", "Object.setPrototypeOf(globalThis, { left: 'left' });"],
    ["find-chain", "", "return globalThis.left"],
    ["nail", "leaves what nobody can remove", "Object.defineProperty(Array, 'left', { value: 'left' });"],
    ["find-nailed", "", "return Array.left"],
    ["die", "ends its isolate", "for (;;) await import('node:process').then(({ default: { exit } }) => exit());"],
    ["get", "gets something", "return 'a secret'"],
    [
      "reach",
      "reaches the canary",
      "const { get } = await import('node:http'); await new Promise((r) => get(at('x'), r));",
    ],
  ]),
};

describe("attempts that share an isolate", () => {
  const room = roomFor(bench, group, group.attempts, true);
  afterAll(() => room.close());

  it.each([
    ["replace", "held"],
    ["find-replaced", "held"],
    ["add", "held"],
    ["find-added", "held"],
    ["chain", "held"],
    ["find-chain", "held"],
    ["nail", "held"],
    ["find-nailed", "held"],
    ["die", "held"],
    ["get", "it got GOT a secret"],
    ["reach", "the canary counted GET /node-made-up.reach/x"],
  ])("find the realm as it was, and are each seen: %s", async (id, verdict) => {
    const attempt = group.attempts.find((each) => each.id === `made-up.${id}`)!;
    expect(await judge(bench, room, group, attempt)).toBe(verdict);
  });

  it("shared one until somebody spoiled it for good, and another until somebody ended it", () => {
    // The second came after the nail, the third proved that what ended the second ends one by itself, and the fourth is for the rest.
    expect(opened).toBe(4);
  });
});
