/** The reasons of the rejections that nobody handled while it ran. Node reports one in the turn after the promise was rejected. */
export async function unhandledDuring(run: () => Promise<void>): Promise<readonly unknown[]> {
  const reasons: unknown[] = [];
  const note = (reason: unknown): void => void reasons.push(reason);
  process.on("unhandledRejection", note);
  try {
    await run();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", note);
  }
  return reasons;
}
