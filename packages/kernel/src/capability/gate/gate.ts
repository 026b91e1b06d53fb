import * as limits from "../../limits.ts";
import type { Hash } from "../../hash/hash.ts";
import { type OwnSession, outcomeOf, readNeeds, readReply, readSession, takeReply, type Use } from "./broker-reply.ts";
import { copyAndHash } from "../../hash/copy-and-hash.ts";
import { type Budget, spend } from "./budget.ts";
import { SecretBearingRequests } from "./secret-bearing-requests.ts";
import type { Broker, BrokerSession, Usage } from "../broker.ts";
import type { BrokerError, BrokerReply, CapabilityReply, CapabilityRequest, OwnRequest } from "../request.ts";
import type { DenialReason } from "../denial.ts";
import { effectsWith, type GateCounts, noCounts, type Ticket } from "./call-usage.ts";
import type { Family, OwnNeed } from "../family.ts";
import * as refusals from "./refusals.ts";
import type { Families } from "../registry.ts";
import { limitOf } from "../grant.ts";
import { Ledger } from "./ledger.ts";
import type { HeldGrant, Revocation } from "../revocation.ts";
import { GateSecrets, type GateSecretsOptions } from "./secrets.ts";

export interface GateOptions extends Budget, refusals.RequestAuthority {
  /** Of requests and replies, for the journal. */
  readonly hash: Hash;
  readonly requester: Pick<BrokerSession, "caller" | "outermostId">;
  readonly families: Families;
  readonly brokers: ReadonlyMap<string, Broker>;
  /** The largest size of a request that the policy lets through. */
  readonly limit?: ((need: OwnNeed) => number) | undefined;
  /** Counts of the call at its suspension. */
  readonly counts?: GateCounts | undefined;
  /** The grant that a run holds until a revocation. */
  readonly hold?: (() => HeldGrant) | undefined;
  readonly secrets?: GateSecretsOptions | undefined;
  /** Called once for each request that a grant, a revocation or the policy refuses, before its entry in the journal. */
  readonly onDenied?: ((kind: string, target: string, reason: DenialReason) => void) | undefined;
  /** Called before the answer goes to the tool; when it rejects, the tool gets a refusal and no data. */
  readonly journal: (use: Use) => void | Promise<void>;
}

/**
 * The keyhole of one call: every request of the tool passes here, is checked against grant and budget, served by its broker and journaled. Owned by the pipeline, which
 * closes it when the call ends; a closed gate refuses everything, requests in flight included.
 */
export class Gate {
  readonly #options: GateOptions;
  #ended = false;
  /** Whether its run has ended. A run whose approval was revoked continues without its grants. */
  #isOver = false;
  /** The nested calls that the tool made so far. */
  #calls: Promise<void> | undefined;
  #inFlight = 0;
  /** The last request that waits for its body to be taken, or for one before it. */
  #taking: Promise<void> | undefined;
  readonly #held: HeldGrant | undefined;
  readonly #counts: { -readonly [Name in keyof GateCounts]: GateCounts[Name] };
  /** Made for the first that is used up: most calls use up nothing. */
  #ledger: Ledger | undefined;
  #carriers: SecretBearingRequests | undefined;
  /** Those of requests in flight, by kind: an operator can revoke one kind alone. Made for the first: most calls ask for nothing. */
  #ends: Map<string, AbortController> | undefined;
  readonly #secrets: GateSecrets;

  /** @param before the gate of the previous run of the same call: this one continues its counts */
  constructor(options: GateOptions, before?: Gate) {
    this.#options = options;
    this.#held = options.hold?.();
    this.#held?.watch(() => this.#endRevoked());
    const counts = before?.counts ?? options.counts ?? noCounts;
    this.#counts = { ...counts };
    if (before) this.#counts.lastRefusal = undefined;
    const revealed = counts.revealed.map(({ name }) => name);
    this.#secrets = before ? before.#secrets : new GateSecrets(options.secrets, revealed);
    this.#secrets.enter((need) => this.#refusal(need));
  }

  get counts(): GateCounts {
    return this.#counts;
  }

  /** The revocations that reached the call. */
  get revocations(): readonly Revocation[] {
    return this.#held?.revocations ?? [];
  }

  /** The gate for another run of the call. */
  next(): Gate {
    return new Gate(this.#options, this);
  }

  close(isOver = true): void {
    this.#ended = true;
    this.#isOver ||= isOver;
    // A reason of our own: the default one is an exception, and costs like one.
    this.#ends?.forEach((end) => end.abort("the call has ended"));
  }

  #endRevoked(): void {
    for (const [kind, end] of this.#ends ?? []) if (this.revoked(kind)) end.abort("the grant was revoked");
    if (this.#secretsRevoked()) this.#carriers?.end();
  }

  /** Never rejects. */
  async request(asked: OwnRequest, ticket: Ticket = {}): Promise<CapabilityReply> {
    if (this.#ended) return this.#refuse(refusals.ended.error);
    if (this.#counts.requestsLeft === 0)
      return this.#refuse(refusals.bounds(`A call may make ${limits.requestsPerCall} capability requests.`));
    if (this.#inFlight >= limits.requestsInFlight)
      return this.#refuse(refusals.bounds(`A call may have ${limits.requestsInFlight} capability requests in flight.`));
    this.#counts.requestsLeft--;
    this.#inFlight++;
    try {
      const serving = this.#serve(asked, ticket);
      if (this.#isCall(asked.kind)) this.#calls = Promise.allSettled([this.#calls, serving]).then(() => {});
      return await serving;
    } catch (error) {
      // The family or the journal broke its promise.
      return this.#refuse(refusals.outOfOrder(error));
    } finally {
      this.#inFlight--;
    }
  }

  /** An access that trusted code makes by itself, with its place in the journal. */
  claim(need: OwnNeed, usage: Usage): { readonly index: number; readonly refusal: BrokerError | undefined } {
    const refusal = this.#refusal(need) ?? this.charge(need, usage);
    this.#counts.wasUsed ||= refusal === undefined;
    if (!refusal) this.affect(need.family);
    return { index: this.#counts.index++, refusal };
  }

  /** Notes the effect of an access of the call, or of a call within it, at once: the call may end before the one within. */
  affect(family: Family): void {
    this.#counts.effects = effectsWith(family, this.#counts.effects);
    this.#options.around?.affect(family);
  }

  /** Resolves when every call that the tool made has its end and is on record; at once, where it made none. They end by themselves when the gate closes. */
  settled(): Promise<void> | undefined {
    const seen = this.#calls;
    return seen?.then(() => (seen === this.#calls ? undefined : this.settled()));
  }

  async #serve(asked: OwnRequest, ticket: Ticket): Promise<CapabilityReply> {
    const { kind, body, fault } = asked;
    if (fault !== undefined) return this.#refuse({ code: "INVALID_REQUEST", message: fault, hint: "" });
    // It goes into the log as it is, also when no broker knows it.
    const operation = asked.operation.slice(0, limits.nameLength).toWellFormed();
    const { hash, journal } = this.#options;
    const rest = { kind, operation, arguments: asked.arguments };
    const taking = this.#inTurn(kind, () => body && copyAndHash(body, hash, () => this.#ended));
    const taken = taking instanceof Promise ? await taking : taking;
    if (this.#ended) return this.#refuse(refusals.ended.error);
    const request: CapabilityRequest = { ...rest, ...(taken && { body: taken.bytes }) };
    const index = (ticket.index ??= this.#counts.index++);
    const requestHash = hash.jsonOrFault({ ...rest, body: taken?.digest ?? null });
    const [dirty, target] = await this.#decide(request, ticket);
    const answered = async (): ReturnType<typeof takeReply> => {
      const clean = this.#secrets.clean(dirty);
      return takeReply(clean instanceof Promise ? await clean : clean, hash, () => this.#ended);
    };
    let [reply, responseHash, refusal] = await answered().catch((error: unknown) =>
      takeReply(refusals.failed(refusals.outOfOrder(error)), hash),
    );
    if (ticket.isWithdrawn) return reply;
    // Taking it can have taken a while.
    const lost = reply.ok && this.revoked(kind);
    if (lost) [reply, responseHash, refusal] = await takeReply(refusals.failed(lost), hash);
    if (refusal?.reason && !this.#ended) this.#options.onDenied?.(kind, target, refusal.reason);
    await this.#journalSecrets(requestHash);
    const outcome = outcomeOf(reply);
    await journal({ index, kind, operation, target, outcome, requestHash, responseHash });
    if (this.#ended) return this.#refuse(refusals.ended.error);
    if (refusal) this.#counts.lastRefusal = { ...refusal, request: { kind, target } };
    return reply;
  }

  /**
   * Serves requests in order, also behind a slow body or a loading broker. Nested calls start
   * immediately, because suspension has to know them.
   */
  #inTurn<Result>(kind: string, take: () => Result | Promise<Result>): Result | Promise<Result> {
    const taking = this.#taking && !this.#isCall(kind) ? this.#taking.then(take) : take();
    if (taking instanceof Promise) this.#taking = Promise.allSettled([this.#taking, taking]).then(() => {});
    return taking;
  }

  /** Which secret went where with a request; the request's own entry follows. */
  async #journalSecrets(requestHash: string): Promise<void> {
    for (const { name, host, need } of this.#secrets.takeUses()) {
      const { kind, target } = need;
      const use = { kind, operation: "reveal", target, outcome: "ok", requestHash } as const;
      this.#counts.revealed = [...this.#counts.revealed, { name, host }];
      await this.#options.journal({ index: this.#counts.index++, ...use, responseHash: this.#options.hash.json(null) });
    }
  }

  async #decide(request: CapabilityRequest, ticket: Ticket): Promise<readonly [reply: BrokerReply, target: string]> {
    const { kind } = request;
    const { brokers, families } = this.#options;
    const family = families.get(kind);
    const broker = brokers.get(kind);
    if (!family || !broker) return [refusals.failed((family ? refusals.unserved : refusals.unknown)(kind)), ""];
    const asked = this.#inTurn(kind, () => broker.needs(request));
    const read = readNeeds(asked instanceof Promise ? await asked : asked);
    if (!read.ok) return [read, ""];
    const needs = read.needs.map((each) => families.need(each));
    const target = needs.map((each) => each.target).join(" ");
    for (const need of needs) {
      const refusal = this.#refusal(need);
      if (refusal) return [refusals.failed(refusal), target];
    }
    this.#counts.wasUsed = true;
    for (const each of [family, ...needs.map((need) => need.family)]) this.affect(each);
    const [need] = needs; // Of this request alone: the gate charges its parts together.
    const spent = family.body === "sent" ? this.#spendBody(need, request.body) : undefined;
    if (spent) return [refusals.failed(spent), target];
    const serve = async (session: BrokerSession): Promise<BrokerReply> => {
      try {
        return readReply(await (ticket.serve ? ticket.serve(request, session) : broker.serve(request, session)));
      } catch (error) {
        // A broken broker may have had an effect: the log records this like any other answer.
        return refusals.failed(refusals.outOfOrder(error));
      }
    };
    const session = readSession(this.#session(kind, need), families);
    const reply = await (this.#options.secrets
      ? (this.#carriers ??= new SecretBearingRequests()).serve(session, serve)
      : serve(session));
    // The tool gets no answer that came after the end of the grant.
    const revoked = this.revoked(kind) ?? (reply ? undefined : this.#secretsRevoked());
    if (revoked) return [refusals.failed(revoked), target];
    if (!reply) return [refusals.ended, target];
    const tooMuch = reply.ok && family.body === "received" ? this.#spendBody(need, reply.body) : undefined;
    return [tooMuch ? refusals.failed(tooMuch) : reply, target];
  }

  /** The gate counts a body before it passes the body on. */
  #spendBody(need: OwnNeed | undefined, bytes: Uint8Array | undefined): BrokerError | undefined {
    return need && bytes && this.charge(need, { bytes: bytes.byteLength });
  }

  /** Counts more for an access, also after the end. */
  charge(need: OwnNeed, usage: Usage): BrokerError | undefined {
    this.#ledger ??= new Ledger(this.#options.grant, this.#counts.budgets);
    return spend(usage, need, this.#ledger, this.#counts, this.#options);
  }

  #session(kind: string, first: OwnNeed | undefined): OwnSession {
    let current = first;
    const { grant, limit } = this.#options;
    const end = this.#ends?.get(kind) ?? new AbortController();
    (this.#ends ??= new Map<string, AbortController>()).set(kind, end);
    if (this.#ended) end.abort("the call has ended");
    return {
      ...this.#options.requester,
      secrets: this.#secrets.open(),
      signal: end.signal,
      refusal: (need) => {
        const refusal = this.#refusal(need);
        if (!refusal) this.affect((current = need).family);
        return refusal;
      },
      spend: (usage, need = current) => {
        if (!need) throw new TypeError("A request that needs nothing uses nothing up.");
        return this.charge(need, usage);
      },
      limit: (need) => Math.min(limitOf(grant, need), limit?.(need) ?? Infinity),
    };
  }

  #refusal(need: OwnNeed): BrokerError | undefined {
    const lost = this.#ended ? refusals.ended.error : this.revoked(need.kind);
    const refusal = lost ?? refusals.refusalOf(need, this.#options);
    if (refusal) return refusal;
    const { destination } = need;
    if (destination) this.#secrets.reach(destination.host, destination.isPublic === true);
    return undefined;
  }

  #isCall(kind: string): boolean {
    return this.#options.families.get(kind)?.isCall === true;
  }

  #secretsRevoked(): BrokerError | undefined {
    const { secrets } = this.#options.families;
    return secrets && this.revoked(secrets.kind);
  }

  /** The refusal of a revoked kind. Also for kinds without requests, such as the clock. */
  revoked(kind: string): BrokerError | undefined {
    const reason = this.#held?.refusal(kind);
    return reason === undefined ? undefined : refusals.revoked(kind, reason);
  }

  #refuse(error: BrokerError): CapabilityReply {
    // A refusal after the end of the run is not its cause.
    if (!this.#isOver) this.#counts.lastRefusal = error;
    return refusals.toldOf(error);
  }
}
