import { createKernel, type IsolateHost, type Kernel, type KernelOptions } from "@keyhole/kernel";
import { expect } from "vitest";
import { openPolicy } from "../support/kernel.ts";
import type { Part } from "../support/part.ts";
import drink from "./tools/drink.ts";
import drinkPackage from "./tools/drink-package.ts";
import give from "./tools/give.ts";
import givePackage from "./tools/give-package.ts";
import lend from "./tools/lend.ts";
import lendPackage from "./tools/lend-package.ts";
import pour from "./tools/pour.ts";
import pourPackage from "./tools/pour-package.ts";
import subject from "./tools/subject.ts";
import subjectPackage from "./tools/subject-package.ts";
import { type AnyTool, registerAny } from "../support/registered.ts";

export interface HostTraits {
  /** Whether it stops a tool that never yields. */
  readonly preempts: boolean;
  /** How much of the contract it runs. Default: all of it. */
  readonly part?: Part;
}

/** A kernel on a host of any kind, with the tool that a contract is about. Inline tools need no host. */
export async function kernelOn(
  host: IsolateHost,
  tool: AnyTool,
  options: KernelOptions = { policy: openPolicy },
): Promise<Kernel> {
  const kernel = await createKernel(host.sources.includes("module") ? { host, ...options } : options);
  expect(registerAny(kernel, tool)).toMatchObject({ ok: true });
  return kernel;
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

/** The tool whose output is bytes: `lend` gives copies of its own, `give` gives them away. */
export function bytesFor(host: IsolateHost, name: "lend" | "give"): typeof lend | typeof lendPackage {
  const tools = { lend: [lend, lendPackage], give: [give, givePackage] } as const;
  return tools[name][host.sources.includes("module") ? 1 : 0];
}
