import type { ToolPackage } from "@keyhole/kernel";
import appendNote from "./append-note.ts?tool";
import primes from "./primes/primes.wasm?tool";
import spin from "./spin.ts?tool";

/** What the page adds to the built-in tools, so that a person sees a tool stopped, one that runs out of fuel, and an approval asked for. */
export const exampleTools: readonly ToolPackage[] = [appendNote, primes, spin];
