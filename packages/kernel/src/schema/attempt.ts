/** What a function of the platform gives; undefined where it throws, which is how the platform says no. */
export function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
