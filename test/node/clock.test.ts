import { systemClock } from "@keyhole/kernel";
import { expect, it } from "vitest";

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

it("what is done idly keeps no process alive, a deadline does", () => {
  const before = timers();
  const stopIdle = systemClock.after(60_000, () => {}, "idly");
  expect(timers()).toBe(before);
  const stopDeadline = systemClock.after(60_000, () => {});
  expect(timers()).toBe(before + 1);
  stopIdle();
  stopDeadline();
  expect(timers()).toBe(before);
});
