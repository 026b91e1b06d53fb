import type { CallFailure } from "@keyhole/kernel";
import { expect } from "vitest";

interface Problem {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly callId: string;
  readonly result: CallFailure;
}

/** The body of an answer that is a problem (RFC 9457). */
export async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return response.json();
}
