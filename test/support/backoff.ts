import { Backoff } from "../../packages/kernel/src/isolate/backoff.ts";
import { applyAll } from "../../packages/kernel/src/state/change.ts";
import { SteadyClock } from "../../packages/kernel/src/state/steady-clock.ts";
import { FakeClock } from "./fake-clock.ts";

/** Without a log: what it would record goes to `onRest`. */
export function backoffOf(onRest: (payload: unknown) => void = () => {}, clock = new FakeClock()): Backoff {
  const backoff = new Backoff(new SteadyClock(clock));
  backoff.open((changes, rest) => {
    if (rest) onRest(rest);
    applyAll(changes);
  });
  return backoff;
}
