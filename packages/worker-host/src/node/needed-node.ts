const neededMajor = 24;

/** What speaks against the Node that runs this, as the rest of a sentence. */
export function nodeFault(): string | undefined {
  if (Number.parseInt(process.versions.node) >= neededMajor) return undefined;
  return `needs Node ${neededMajor} or newer; got ${process.versions.node}.`;
}
