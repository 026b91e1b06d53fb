/**
 * Stands for a secret inside a tool: `keyhole-secret.TOKEN.NAME.`, of characters that neither headers nor URLs nor JSON change. The token is the second
 * half of the call's seed: nobody but the call itself knows it while it runs, not even from its random numbers, which the first half still hides; and a
 * run that is replayed with its seed sees the same text.
 */
export function placeholder(seed: string, name: string): string {
  return `keyhole-secret.${seed.slice(32)}.${name}.`;
}
