import { expect, it } from "vitest";
import { Starts } from "../../packages/worker-host/src/starts.ts";

/** Who started, in order, and the ways to let the next one start. */
function line(starts: Starts) {
  const order: string[] = [];
  const running: (() => void)[] = [];
  const take = (tool: string, isWanted?: () => boolean): void => {
    void starts.take(tool, isWanted).then((started) => {
      if (!started) return;
      order.push(tool);
      running.push(started);
    });
  };
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { order, running, take, settle };
}

it("as many start as may, and not one more", async () => {
  const { order, running, take, settle } = line(new Starts(2));
  for (let i = 0; i < 3; i++) take("a");
  await settle();
  expect(order).toHaveLength(2);
  running[0]!();
  running[0]!(); // Said twice is said once.
  await settle();
  expect(order).toHaveLength(3);
  take("a");
  await settle();
  expect(order).toHaveLength(3);
});

it("tools take turns: a flood for one costs another one start", async () => {
  const { order, running, take, settle } = line(new Starts(1));
  for (let i = 0; i < 5; i++) take("flood");
  take("other");
  take("third");
  for (let i = 0; i < 7; i++) {
    await settle();
    running[i]!();
  }
  await settle();
  expect(order).toEqual(["flood", "flood", "other", "third", "flood", "flood", "flood"]);
});

it("what nobody wants any more when its turn comes does not start, and costs nobody a turn", async () => {
  const { order, running, take, settle } = line(new Starts(1));
  let asked = 0;
  const unwanted = () => (asked++, false);
  take("flood");
  for (let i = 0; i < 100; i++) take("flood", unwanted);
  take("other");
  take("flood");
  await settle();
  expect(asked).toBe(0); // Until its turn comes, somebody may want it again.
  for (let i = 0; i < 3; i++) {
    running[i]!();
    await settle();
  }
  expect([order, asked]).toEqual([["flood", "flood", "other"], 100]);
  take("flood", unwanted);
  take("other");
  await settle();
  expect(order.at(-1)).toBe("other");
});

it("what was free once is free again", async () => {
  const { order, running, take, settle } = line(new Starts(1));
  for (const tool of ["a", "b"]) {
    take(tool);
    await settle();
    running.at(-1)!();
  }
  expect(order).toEqual(["a", "b"]);
});
