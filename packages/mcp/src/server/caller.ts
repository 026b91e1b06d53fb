import type { Capability } from "@keyhole/kernel";
import type { AuthInfo } from "@modelcontextprotocol/server";

/** The sender of a request, as the program that serves it knows it. */
export interface McpCaller {
  /** The kernel's `caller`: rules and grants name it, and the log has it. */
  readonly caller: string;
  /** The kernel's session. Default: one per connection, and over HTTP in 2026-07-28, which has no sessions, one per caller. */
  readonly sessionId?: string;
  /** Narrows what the policy grants. */
  readonly grants?: readonly Capability[];
  /** Sets callers of one name apart that share a `stateKey`. */
  readonly tenant?: string;
}

const callers = new WeakMap<AuthInfo, McpCaller>();

/** Data that the SDK passes on with a request. It has no token: nothing behind it needs one. */
export function authInfoOf(caller: McpCaller): AuthInfo {
  const info: AuthInfo = { token: "", clientId: caller.caller, scopes: [] };
  callers.set(info, caller);
  return info;
}

export function callerOf(info: AuthInfo | undefined): McpCaller | undefined {
  return info && callers.get(info);
}

export function isSameCaller(a: McpCaller, b: McpCaller): boolean {
  return a.caller === b.caller && a.tenant === b.tenant;
}

/** No two callers have the same one. */
export function nameOf({ caller, tenant }: McpCaller): string {
  return JSON.stringify([tenant ?? null, caller]);
}

/** The same caller, with as much as before: one caller can have several tokens, and a new token can hold less. */
export function hasSameAuthority(a: McpCaller, b: McpCaller): boolean {
  return isSameCaller(a, b) && a.sessionId === b.sessionId && JSON.stringify(a.grants) === JSON.stringify(b.grants);
}

/** The session of a caller that names none, and whose protocol has none. No two callers share it. */
export function sessionOf(caller: McpCaller): string {
  return caller.sessionId ?? `mcp-${nameOf(caller)}`;
}
