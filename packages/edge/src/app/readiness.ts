import type { ErrorCode, Kernel } from "@keyhole/kernel";
import { type HttpCode, HttpRefusal, Misconfigured } from "./problem.ts";
import { isStorageFault } from "./storage-fault.ts";

/** Why a call would not be served now. */
export interface ReadinessCause {
  /** The code that a call would get. */
  readonly code: ErrorCode | HttpCode;
  /** One sentence for everybody: no value of a setting, and nothing about tenants or tools. */
  readonly detail: string;
}

/** Of the kernel itself. @param probe rejects where the log's storage takes no write */
export async function kernelCauses({
  kernel,
  probe = async () => {},
}: {
  readonly kernel: Kernel;
  readonly probe?: () => Promise<void>;
}): Promise<readonly ReadinessCause[]> {
  if (!kernel.audit.writable) return [unwritable];
  return probe().then(
    () => [],
    () => [unwritable],
  );
}

export const unwritable: ReadinessCause = { code: "AUDIT_UNAVAILABLE", detail: "The audit log cannot be written." };

/** Of a kernel that did not start, or did not answer. @param otherwise what is said of an unexpected error */
export function causeOf(thrown: unknown, otherwise: string): ReadinessCause {
  if (thrown instanceof Misconfigured) return { code: thrown.code, detail: thrown.publicDetail };
  if (thrown instanceof HttpRefusal) return { code: thrown.code, detail: thrown.message };
  return isStorageFault(thrown) ? unwritable : { code: "INTERNAL", detail: otherwise };
}

/** 200 only when a call would be served. */
export function readinessAnswer(causes: readonly ReadinessCause[]): Response {
  if (causes.length === 0) return Response.json({ status: "ok" });
  return Response.json({ status: "unavailable", causes }, { status: 503 });
}
