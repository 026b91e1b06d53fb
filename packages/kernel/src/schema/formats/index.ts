/** Undefined for a format that nobody knows: it then only annotates. */
export function findFormat(_name: string): ((text: string) => boolean) | undefined {
  return undefined;
}
