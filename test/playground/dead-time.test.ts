import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeadTime, quietMs } from "../../packages/playground/src/approval/dead-time.ts";

const devices = ["mouse", "pen", "touch", "keyboard", "virtual"] as const;

describe("an approval request", () => {
  it.each(devices)("ignores a press by %s right after it appeared", (device) => {
    const dead = new DeadTime(0);
    dead.move(quietMs - 1);
    expect(dead.allows(device, quietMs - 1)).toBe(false);
  });

  it.each(devices)("takes a press by %s after a quiet time and a movement of the pointer", (device) => {
    const dead = new DeadTime(0);
    dead.move(quietMs);
    expect(dead.allows(device, quietMs)).toBe(true);
  });

  it("takes a press by finger, key or screen reader without a movement, and by mouse or pen not", () => {
    const dead = new DeadTime(0);
    const allowed = devices.filter((device) => dead.allows(device, quietMs * 10));
    expect(allowed).toEqual(["touch", "keyboard", "virtual"]);
  });

  it("is not allowed by a series of presses or keys, however long it lasts", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: quietMs - 1 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(gaps, fc.constantFrom(...devices), (each, device) => {
        const dead = new DeadTime(0);
        let now = 0;
        for (const gap of each) {
          now += gap;
          dead.move(now);
          dead.disturb(now);
          expect(dead.allows(device, now)).toBe(false);
        }
        expect(dead.leftMs(now)).toBe(quietMs);
      }),
    );
  });

  it("keeps its buttons ready when a key moves the focus after the quiet time", () => {
    const dead = new DeadTime(0);
    dead.disturb(quietMs);
    dead.disturb(quietMs + 1);
    expect(dead.allows("keyboard", quietMs + 2)).toBe(true);
  });

  it("starts its quiet time again when the page comes to the front", () => {
    const dead = new DeadTime(0);
    dead.move(quietMs);
    dead.restart(quietMs * 2);
    expect(dead.allows("keyboard", quietMs * 2)).toBe(false);
    expect(dead.allows("mouse", quietMs * 4)).toBe(false);
  });
});
