interface OfKind {
  readonly kind: string;
}

/**
 * The accesses of each call of a source. Without a need a grant of the kind for any host or command would serve, and no rule about them would bind.
 *
 * @throws TypeError for a capability without a need of its kind
 */
export function checkNeeds(capabilities: readonly OfKind[], needs: readonly OfKind[]): void {
  const open = capabilities.find(({ kind }) => !needs.some((need) => need.kind === kind));
  if (open) throw new TypeError(`Got a source without a need of ${open.kind}. State each access in \`needs\`.`);
}
