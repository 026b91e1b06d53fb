import { parseUrl } from "@keyhole/kernel";

/**
 * The part of a page's Content-Security-Policy that blocked something. The platform reports it by
 * an event beside the failure, which itself names no reason. Works in pages and in workers, which
 * have their own policy when they come from a file. Elsewhere no policy blocks a request.
 */
export interface PolicyWatch {
  /** The source that a directive lacks, once the platform had time to say so. */
  lacks(): Promise<string | undefined>;
  /** Idempotent. */
  leave(): void;
}

/** Whether this is a page or a worker of one. Firefox has the type of the event in pages alone; workerd has only the scope of a worker. */
export const hasPolicies: boolean =
  "SecurityPolicyViolationEvent" in globalThis ||
  ("WorkerGlobalScope" in globalThis && "credentials" in Request.prototype);

/**
 * @param isOurs whether what was blocked, an address or a word such as `wasm-eval`, and by which directive, is what is being watched
 * @param reports whether a policy that only reports counts as well. It blocks nothing (CSP 3, 5.1). Default `false`
 */
export function watchPolicy(isOurs: (blocked: string, directive: string) => boolean, reports = false): PolicyWatch {
  if (!hasPolicies) return { lacks: async () => undefined, leave: () => {} };
  let lacks: string | undefined;
  const note = (event: Event): void => {
    const { disposition, effectiveDirective, blockedURI } = event as Violation;
    if ((reports || disposition === "enforce") && isOurs(blockedURI, effectiveDirective))
      lacks ??= `${effectiveDirective} ${sourceFor(blockedURI)}`;
  };
  here.addEventListener("securitypolicyviolation", note);
  return {
    async lacks() {
      // The event is a task of its own, behind the failure.
      if (lacks === undefined) await new Promise((resolve) => setTimeout(resolve, eventMs));
      return lacks;
    },
    leave: () => here.removeEventListener("securitypolicyviolation", note),
  };
}

/** Of `SecurityPolicyViolationEvent` (CSP 3), which platforms outside a page do not even have as a type. */
interface Violation extends Event {
  readonly disposition: "enforce" | "report";
  readonly effectiveDirective: string;
  readonly blockedURI: string;
}

/** A page or a worker of one: nothing else knows the event. */
const here = globalThis as unknown as EventTarget & { readonly location: { readonly origin: string } };

/** Long for a task that is queued already, short for a request that has failed. */
const eventMs = 50;

function sourceFor(blocked: string): string {
  if (blocked === "wasm-eval") return "'wasm-unsafe-eval'";
  const origin = parseUrl(blocked)?.origin ?? blocked;
  return origin === here.location.origin ? "'self'" : origin;
}
