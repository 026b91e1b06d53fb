/** The value of a function of the platform; `undefined` where the function throws, which is how the platform refuses. */
export function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
