import type { Capability } from "@keyhole/kernel";
import type { BusMessage } from "../port.ts";
import { type BusCredential, checkCredential, credentialOf } from "../wire/seal.ts";

/** The sender of a request, as the program that serves knows it. */
export interface BusCaller {
  /** The kernel's `caller`: rules and grants name it, and the log has it. */
  readonly caller: string;
  /** The kernel's session. Default: one per call. */
  readonly sessionId?: string;
  /** Narrows what the policy grants. */
  readonly grants?: readonly Capability[];
}

/** A caller, and the credential with which its answers are sealed. */
export interface KnownCaller {
  readonly caller: BusCaller;
  readonly credential: BusCredential | undefined;
}

/** Names the sender of a correlation. Counts go by caller: one caller can have several credentials. */
export function senderOf({ caller, credential }: KnownCaller): string {
  return JSON.stringify([credential?.id ?? null, caller.caller]);
}

/** Says who sent a message; `undefined` refuses it. The kernel believes no header without a seal. */
export type BusCallers = (message: BusMessage) => KnownCaller | undefined;

/**
 * Every sender to the subjects counts as one caller. For a bus whose server lets only that caller publish under the prefix, and for channels of one origin.
 *
 * @example
 * await serveOnBus(kernel, bus, { callers: everyCaller({ caller: "agents" }) });
 */
export function everyCaller(caller: BusCaller): BusCallers {
  const known = { caller, credential: undefined };
  return () => known;
}

/**
 * Lets in callers that seal their requests with a key that they share with the kernel. A seal covers subject, reply, headers and body, so a listener learns no key and changes
 * nothing.
 *
 * @throws TypeError for a credential of another form, or two of one id
 * @example
 * const callers = sealedCallers([[{ id: "planner", key }, { caller: "planner" }]]);
 */
export function sealedCallers(pairs: Iterable<readonly [BusCredential, BusCaller]>): BusCallers {
  const byId = new Map<string, KnownCaller & { readonly credential: BusCredential }>();
  for (const [credential, caller] of pairs) {
    checkCredential(credential);
    if (byId.has(credential.id)) throw new TypeError(`Got two credentials of the id ${credential.id}, expected one.`);
    byId.set(credential.id, { caller, credential });
  }
  return (message) => {
    const credential = credentialOf(message, (id) => byId.get(id)?.credential.key);
    return credential && byId.get(credential.id);
  };
}
