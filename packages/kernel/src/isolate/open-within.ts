import type { Deadline } from "../bounds/deadline.ts";
import type { RegisteredTool } from "../tool/package.ts";
import type { Isolate } from "./port.ts";

/** Opens an isolate that no pool owns; `undefined` at the deadline. One that opens later ends at once. */
export async function openWithin<Opened extends Pick<Isolate, "terminate">>(
  host: { open(tool: RegisteredTool, isWanted: () => boolean): Promise<Opened> },
  tool: RegisteredTool,
  deadline: Deadline,
): Promise<Opened | undefined> {
  const due = Promise.withResolvers<undefined>();
  let isWanted = true;
  const stopTimer = deadline.watch(() => {
    isWanted = false;
    due.resolve(undefined);
  });
  const opening = host.open(tool, () => isWanted);
  const opened = opening.then((isolate) => {
    if (!isWanted) isolate.terminate("it opened too late");
    return isolate;
  });
  try {
    return await Promise.race([opened, due.promise]);
  } finally {
    stopTimer();
  }
}
