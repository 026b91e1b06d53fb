/** Milliseconds of processor time of this process so far, for work that waits for nothing: what else a busy machine does is not in it. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
