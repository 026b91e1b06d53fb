import { defineFamily } from "../define-family.ts";
import type { Family } from "../family.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    clock: ClockCapability;
    random: RandomCapability;
  }
  interface NeedTypes {
    clock: ClockCapability;
    random: RandomCapability;
  }
}

/** The real clock. Without it a tool sees logical time: the call's start. */
export interface ClockCapability {
  readonly kind: "clock";
}

/** Real randomness. Without it a tool sees a sequence from the call's seed. */
export interface RandomCapability {
  readonly kind: "random";
}

export const clock: Family = /* @__PURE__ */ sourceFamily("clock", "Sees the real time");

export const random: Family = /* @__PURE__ */ sourceFamily("random", "Uses real randomness");

/** A source that the guest has by itself: no request, and nothing but its kind. */
function sourceFamily(kind: "clock" | "random", title: string): Family {
  return defineFamily<{ readonly kind: "clock" | "random" }, { readonly kind: "clock" | "random" }>({
    kind,
    title,
    effect: "none",
    fields: {},
    need: {},
    covers: () => () => true,
    target: () => kind,
    narrowest: () => ({ kind }),
    isNarrow: () => true,
    isSource: true,
  });
}
