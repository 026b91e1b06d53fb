import { type AuditEvent, createKernel, type Kernel, type KernelOptions } from "@keyhole/kernel";
import { FakeClock } from "../../support/fake-clock.ts";
import { openPolicy } from "../../support/kernel.ts";
import type { Way } from "../changing.ts";

/** A place where a kernel is given something by somebody else. */
export interface Seam {
  readonly name: string;
  /** What is given: once as the first look sees it, once as all later ones do. */
  readonly first: unknown;
  readonly second: unknown;
  /** What the kernel makes of it, without what is new each time. */
  readonly run: (given: never) => Promise<unknown>;
  /** Ways that do not fit: data of this seam is refused with accessors in it, or is no object. Default: all. */
  readonly ways?: readonly Way[];
}

/** Ids, digests and nonces are new in each kernel. */
function comparable(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each: unknown) =>
    each instanceof Uint8Array ? `bytes ${each.join()}` : each,
  );
  return JSON.parse(
    (text ?? "null")
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
      .replaceAll(/(?:blake3|sha256):[0-9a-f]{64}/g, "DIGEST")
      .replaceAll(/\b[0-9a-f]{16,64}\b/g, "RANDOM"),
  ) as unknown;
}

export async function openKernel(options: KernelOptions = {}): Promise<Kernel> {
  return createKernel({ policy: openPolicy, clock: new FakeClock(), ...options });
}

/** Results and everything that is on record. */
export async function seen(kernel: Kernel, ...results: unknown[]): Promise<unknown> {
  const events = await kernel.audit.read();
  return comparable([results, events.map(({ type, payload }: AuditEvent) => [type, payload]), kernel.approvals.list()]);
}
