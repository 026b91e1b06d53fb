import { thorough } from "./size.ts";

/**
 * How much of a contract a host runs. `whole`: all of it; once per implementation. `engine`: what the JavaScript engine
 * or the platform decides, for the same implementation elsewhere: the hardened realm, the policy, the kill, the transfer of bytes
 * and streams, suspension.
 */
export type Part = "whole" | "engine";

/** Under `npm run test:thorough` every host runs the whole contract. */
export function runsWhole(part: Part = "whole"): boolean {
  return thorough || part === "whole";
}
