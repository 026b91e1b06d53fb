import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { call, loadedGuest, type RawGuest, returned } from "../browser/raw-guest.ts";
import { heardPort } from "../support/heard-port.ts";

// A tool that something wakes when no call runs spins without a deadline: only a host that asks finds out.

/** Asks once, and then looks so often whether there is an answer. */
const LOOKS = 11;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function idleGuest(): Promise<RawGuest & { readonly wentOn: string[] }> {
  const guest = await loadedGuest();
  const wentOn: string[] = [];
  guest.channel.onWentOn(() => wentOn.push("went on"));
  const outcome = guest.channel.call(call, heardPort());
  guest.say(returned("1"));
  await outcome;
  return { ...guest, wentOn };
}

const look = (times: number): void => void vi.advanceTimersByTime(times * 1_000);
const pings = ({ received }: RawGuest): number => received.filter(({ type }) => type === "ping").length;
/** All that was sent so far has arrived. */
async function arrived({ channel, say }: RawGuest): Promise<void> {
  const more = channel.call(call, heardPort());
  say(returned("1"));
  await more;
}

it("a guest that answers stays", async () => {
  const guest = await idleGuest();
  for (let round = 1; round <= 20; round++) {
    look(1);
    await expect.poll(() => pings(guest)).toBe(round);
    guest.say({ type: "pong" });
    await arrived(guest);
  }
  expect([guest.channel.open, guest.wentOn, guest.broken]).toEqual([true, [], []]);
});

it("a guest that does not answer is ended, and its host hears why", async () => {
  const guest = await idleGuest();
  look(LOOKS - 1);
  expect([guest.channel.open, guest.wentOn]).toEqual([true, []]);
  look(1);
  expect([guest.channel.open, guest.wentOn]).toEqual([false, ["went on"]]);
  expect(guest.broken).toEqual(["something of the tool runs, and no call does"]);
  look(LOOKS);
  expect(guest.wentOn).toHaveLength(1);
});

it("a guest that answers late is taken for a slow one", async () => {
  const guest = await idleGuest();
  look(LOOKS - 1);
  guest.say({ type: "pong" });
  await arrived(guest);
  look(LOOKS - 1);
  expect(guest.channel.open).toBe(true);
});

it("a guest in which a call runs is left to the deadline of that call", async () => {
  const guest = await idleGuest();
  look(2);
  const running = guest.channel.call(call, heardPort());
  look(5 * LOOKS);
  expect([guest.channel.open, guest.wentOn]).toEqual([true, []]);
  guest.say(returned("1"));
  expect((await running).kind).toBe("returned");
});

it("an answer that was not asked for breaks the protocol", async () => {
  const guest = await idleGuest();
  guest.say({ type: "pong" });
  await expect.poll(() => guest.broken).toEqual(["an answer that was not asked for"]);
  expect(guest.wentOn).toEqual([]);
});
