import type { ToolPackage } from "@keyhole/kernel";
import primes from "./primes/primes.wasm?tool";

/** A file beside this one is a tool of the page. */
const files = import.meta.glob<ToolPackage>(["./*.ts", "!./index.ts"], {
  query: "?tool",
  import: "default",
  eager: true,
});

/** What the page adds to the built-in tools, so that a person sees a tool stopped, one that runs out of fuel, and an approval asked for. */
export const exampleTools: readonly ToolPackage[] = [...Object.values(files), primes];
