import type { ErrorCode, Kernel } from "@keyhole/kernel";
import { type HttpCode, HttpRefusal, Misconfigured } from "./problem.ts";

/** Why a call would not be served now. */
export interface ReadinessCause {
  /** The code that a call would get. */
  readonly code: ErrorCode | HttpCode;
  /** One sentence for everybody: no value of a setting, and nothing about tenants or tools. */
  readonly detail: string;
}

/** Of the kernel itself. */
export function kernelCauses({ audit }: Kernel): readonly ReadinessCause[] {
  return audit.writable ? [] : [{ code: "AUDIT_UNAVAILABLE", detail: "The audit log cannot be written." }];
}

/** Of a part that did not start. */
export function causeOf(thrown: unknown): ReadinessCause {
  if (thrown instanceof Misconfigured) return { code: thrown.code, detail: thrown.publicDetail };
  if (thrown instanceof HttpRefusal) return { code: thrown.code, detail: thrown.message };
  return { code: "INTERNAL", detail: "The kernel did not start." };
}

/** 200 only when a call would be served. */
export function readinessAnswer(causes: readonly ReadinessCause[]): Response {
  if (causes.length === 0) return Response.json({ status: "ok" });
  return Response.json({ status: "unavailable", causes }, { status: 503 });
}
