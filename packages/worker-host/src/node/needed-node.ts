const neededMajor = 24;

/** The fault of the running Node, as the rest of a sentence. */
export function nodeFault(): string | undefined {
  if (Number.parseInt(process.versions.node) >= neededMajor) return undefined;
  return `needs Node ${neededMajor} or newer; got ${process.versions.node}.`;
}
