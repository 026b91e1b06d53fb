import type { IsolateHost } from "@keyhole/kernel";
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
