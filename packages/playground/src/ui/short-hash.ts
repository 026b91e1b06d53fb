/** Eight characters tell hashes apart at a glance. */
export function shortHash(hash: string): string {
  return hash.slice(hash.indexOf(":") + 1).slice(0, 8);
}
