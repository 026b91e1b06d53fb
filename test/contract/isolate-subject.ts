import type { IsolateHost } from "@keyhole/kernel";
import drink from "./tools/drink.ts";
import drinkPackage from "./tools/drink-package.ts";
import pour from "./tools/pour.ts";
import pourPackage from "./tools/pour-package.ts";
import subject from "./tools/subject.ts";
import subjectPackage from "./tools/subject-package.ts";

export interface HostTraits {
  /** Whether it stops a tool that never yields. */
  readonly preempts: boolean;
}

/** The tool under every contract, in the form that a host can run. */
export function subjectFor(host: IsolateHost): typeof subject | typeof subjectPackage {
  return host.sources.includes("module") ? subjectPackage : subject;
}

/** The tool whose output is a stream. */
export function pourFor(host: IsolateHost): typeof pour | typeof pourPackage {
  return host.sources.includes("module") ? pourPackage : pour;
}

/** The tool that takes a body, and pours it on. */
export function drinkFor(host: IsolateHost): typeof drink | typeof drinkPackage {
  return host.sources.includes("module") ? drinkPackage : drink;
}
