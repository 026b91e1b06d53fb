/** Stands behind each time that {@link processorMs} measured: `bench:compare` never sets a time beside that of another clock. */
export const byProcessor = "of processor time";

/**
 * Milliseconds of processor time of this process so far, the engine's own threads included, for
 * work that waits for nothing. What else a busy machine does is not in it.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
