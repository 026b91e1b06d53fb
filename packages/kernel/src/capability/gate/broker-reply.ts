import type { Hash } from "../../hash/hash.ts";
import { bytesOf, membersOf } from "../../support/foreign.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../../json/json.ts";
import * as limits from "../../limits.ts";
import { snapshotLoosely, type SnapshotResult } from "../../json/snapshot.ts";
import { copyAndHash } from "../../hash/copy-and-hash.ts";
import type { BrokerNeeds, BrokerSession, Usage } from "../broker.ts";
import type { BrokerError, BrokerReply, CapabilityReply } from "../request.ts";
import type { Need } from "../capability.ts";
import { isDenialReason } from "../denial.ts";
import type { OwnNeed } from "../family.ts";
import { bounds, codeOfRefusal, ended, failed, toldOf } from "./refusals.ts";
import type { Families } from "../registry.ts";

/** The entry of one request in the journal. */
export interface Use {
  readonly index: number;
  readonly kind: string;
  readonly operation: string;
  /** The target: a URL without query and credentials, or a path. */
  readonly target: string;
  readonly outcome: ReturnType<typeof outcomeOf>;
  readonly requestHash: string;
  readonly responseHash: string;
}

/**
 * Reads the answer of a broker once. The kernel trusts the data of brokers, not its form.
 *
 * @throws TypeError for a malformed answer
 */
export function readReply(foreign: unknown): BrokerReply {
  const { ok, error, value, body } = membersOf(foreign);
  if (ok !== true) return failed(readError(error));
  const plain = snapshotLoosely(value, { ...limits.ofValue, maxDepth: 500, maxStringUnits: Infinity });
  if (!plain.ok && plain.error.reason === "too-large")
    return failed(bounds(`The answer has more than ${limits.nodes} values, or more than ${limits.members} members.`));
  const own = dataOf(plain);
  if (body === undefined || body === null) return { ok: true, value: own };
  const bytes = bytesOf(body);
  if (!bytes) throw new TypeError("The body is not a Uint8Array.");
  return { ok: true, value: own, body: bytes };
}

/** @throws TypeError for what is no data, or throws when it is read */
function dataOf(taken: SnapshotResult): JsonValue {
  if (!taken.ok) throw new TypeError(taken.error.message);
  return taken.value;
}

/** Of one request. */
const MAX_NEEDS = 1_000;

/** Reads the needs that a broker states, once. */
export function readNeeds(foreign: unknown): BrokerNeeds {
  const { ok, error, needs } = membersOf(foreign);
  if (ok !== true) return failed(readError(error));
  const list = dataOf(snapshotLoosely(needs, {}));
  if (!isJsonArray(list) || list.length > MAX_NEEDS) throw new TypeError("The needs are not a list.");
  return { ok: true, needs: list.map(needIn) };
}

/** For the family of its kind to look at. @throws TypeError for what has no kind */
function needIn(need: JsonValue): Need {
  if (!isJsonObject(need) || typeof need["kind"] !== "string") throw new TypeError("A need has no kind.");
  return need as unknown as Need;
}

function readError(foreign: unknown): BrokerError {
  const { code, message, hint, operatorHint = "", reason } = membersOf(foreign);
  if (!isCode(code) || !isText(message) || !isText(hint) || !isText(operatorHint))
    throw new TypeError("The refusal's texts are not strings.");
  return { code, message, hint, operatorHint, ...(isText(reason) && isDenialReason(reason) && { reason }) };
}

const isText = (value: unknown): value is string => typeof value === "string";

const isCode = (code: unknown): code is BrokerError["code"] =>
  typeof code === "string" && Object.hasOwn(codeOfRefusal, code);

/**
 * Reads the use that a broker reports, once. @throws TypeError for an amount that is no number or
 * is negative
 */
function readUsage(foreign: unknown): Usage {
  const { networkRequests, networkBytes, requests, bytes } = membersOf(foreign);
  const usage = { networkRequests, networkBytes, requests, bytes };
  for (const amount of Object.values(usage))
    if (amount !== undefined && !(typeof amount === "number" && amount >= 0))
      throw new TypeError("The usage is not a number of at least 0.");
  return usage as Usage;
}

/** A session as the kernel has it. */
export interface OwnSession extends Pick<BrokerSession, "caller" | "outermostId" | "signal" | "secrets"> {
  refusal(need: OwnNeed): BrokerError | undefined;
  spend(usage: Usage, need?: OwnNeed): BrokerError | undefined;
  limit(need: OwnNeed): number;
}

/**
 * The session of a broker, whose arguments are read once. A broker passes the same object for one
 * need while it charges it.
 */
export function readSession(session: OwnSession, families: Families): BrokerSession {
  const known = new WeakMap<Need, OwnNeed>();
  const read = (need: Need): OwnNeed => families.need(needIn(dataOf(snapshotLoosely(need, {}))));
  const needOf = (need: Need): OwnNeed => {
    let own = known.get(need);
    if (!own) known.set(need, (own = read(need)));
    return own;
  };
  return {
    ...session,
    refusal: (need) => session.refusal(read(need)),
    spend: (usage, need) => session.spend(readUsage(usage), need && needOf(need)),
    limit: (need) => session.limit(read(need)),
  };
}

/**
 * An answer for the tool with its own bytes, and its digest for the log. A header can hold a lone
 * surrogate, which the digest does not show.
 *
 * @throws TypeError for bytes whose memory is gone
 */
export async function takeReply(
  reply: BrokerReply,
  hash: Hash,
  isOver: () => boolean = () => false,
): Promise<readonly [reply: CapabilityReply, hash: string, refusal?: BrokerError]> {
  if (!reply.ok) {
    const told = toldOf(reply.error);
    const digest = hash.jsonOrFault({ ok: false, error: { ...told.error } });
    return [told, digest, { ...reply.error, ...told.error }];
  }
  const { value, body } = reply;
  const taking = body && !isOver() ? copyAndHash(body, hash, isOver) : undefined;
  const taken = taking instanceof Promise ? await taking : taking;
  if (body && !taken) return takeReply(ended, hash);
  const digest = hash.jsonOrFault({ ok: true, value, body: taken?.digest ?? null });
  return [{ ok: true, value, ...(taken && { body: taken.bytes }) }, digest];
}

/** As the journal names it. */
export function outcomeOf(reply: CapabilityReply): "ok" | "refused" | "failed" {
  if (reply.ok) return "ok";
  return ["NOT_FOUND", "UNAVAILABLE", "CANCELLED"].includes(reply.error.code) ? "failed" : "refused";
}
