import type { FakeClock } from "@keyhole/kernel/testing";

export { FakeClock, settle } from "@keyhole/kernel/testing";

/**
 * Lets time pass, a second at a time, until the answer is there: for answers that real messages bring. Time stands still until `begun` has settled. Without that a
 * slow machine would reach the deadline before the subject of the test. An answer that comes without it ends the wait: the test says what came.
 *
 * @param isStill whether something takes real time just now
 */
export async function passUntil<Answer>(
  clock: FakeClock,
  begun: Promise<unknown>,
  answer: Promise<Answer>,
  isStill: () => boolean = () => false,
): Promise<Answer> {
  await Promise.race([begun, answer]);
  let waits = true;
  const over = answer.finally(() => {
    waits = false;
  });
  while (waits) {
    if (!isStill()) await clock.advance(1_000);
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
  }
  return over;
}
