import { HttpRefusal } from "./problem.ts";
import { isStorageFault } from "./storage-fault.ts";

/** The platform's queue in front of an object is full, and empties in seconds; every other cause has passed when the object is there again. */
const retryAfterS = { overloaded: "10", reset: "1" } as const;

/**
 * The answer where the way to the kernel's object failed. The object answers its own errors, so each of these is the platform's: an overload, a reset by a deploy or by a limit of
 * CPU or memory, a lost connection. Nobody knows how far the request came.
 */
export function kernelFault(thrown: unknown): unknown {
  if (isStorageFault(thrown)) return thrown;
  const isOverloaded = thrown instanceof Error && "overloaded" in thrown && thrown.overloaded === true;
  return new HttpRefusal(
    "KERNEL_UNAVAILABLE",
    "The kernel ended the connection before its answer. If the request was a call, its tool may have run.",
    { "retry-after": retryAfterS[isOverloaded ? "overloaded" : "reset"] },
    "Repeat a call only if its tool may run twice, or with its Idempotency-Key.",
  );
}
