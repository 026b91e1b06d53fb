import { concerns, fits, type Revocation, type Revocations } from "../capability/revocation.ts";

type Standing = Pick<Revocations, "hold" | "standing">;

/** The kernel's revocations, and those that reached a call before it came here. */
export function withTaken(kernel: Standing, taken: readonly Revocation[]): Standing {
  if (taken.length === 0) return kernel;
  return {
    standing: (holder, kind) =>
      kernel.standing(holder, kind) ?? taken.find(({ match }) => fits(match, holder) && concerns(match, kind))?.reason,
    hold(holder) {
      const held = kernel.hold(holder);
      for (const revocation of taken) held.take(revocation);
      return held;
    },
  };
}
