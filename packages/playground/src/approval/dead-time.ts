import type { Device } from "../ui/press.ts";

/** Without a press or a key for so long, the next one is an answer. Browsers wait 500 ms before a permission prompt takes a press. */
export const quietMs = 700;

/**
 * Decides whether a press answers an approval request on purpose. The request appears without warning, so a press or a key may belong to the thing that was there before. Times are milliseconds of one clock.
 */
export class DeadTime {
  #endsAt: number;
  #hasMoved = false;

  constructor(now: number) {
    this.#endsAt = now + quietMs;
  }

  leftMs(now: number): number {
    return Math.max(0, this.#endsAt - now);
  }

  /** The page came to the front, or its parts moved: the dead time starts again. */
  restart(now: number): void {
    this.#endsAt = now + quietMs;
    this.#hasMoved = false;
  }

  /** A press or a key anywhere. During the dead time it belongs to an earlier activity, which may continue. */
  disturb(now: number): void {
    if (this.leftMs(now) > 0) this.restart(now);
  }

  /** The pointer really moved: the person moves it after the dead time only with the request in sight. */
  move(now: number): void {
    if (this.leftMs(now) === 0) this.#hasMoved = true;
  }

  /** Only the dead time stops a finger or a key; a mouse that rests where the button appeared has to move first. */
  allows(device: Device, now: number): boolean {
    if (this.leftMs(now) > 0) return false;
    return this.#hasMoved || (device !== "mouse" && device !== "pen");
  }
}
