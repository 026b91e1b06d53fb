import type { Broker, BrokerSession, BrokerReply, CapabilityRequest, Need } from "@keyhole/kernel";
import { cancelled, type Refused } from "./fault.ts";

/** What a broker of one store says of itself. */
interface CheckedBroker<Value> {
  readonly families: Broker["families"];
  readonly read: (request: CapabilityRequest) => { readonly ok: true; readonly value: Value } | Refused;
  readonly needsOf: (value: Value) => readonly Need[];
  readonly serve: (value: Value, session: BrokerSession) => Promise<BrokerReply>;
}

/**
 * A broker that reads a request and serves what it read. Requests come from foreign code: what is served is what was read, and is read again, because the gate asks for the need first. What was
 * served too late is nobody's: the call that asked has ended.
 */
export function checkedBroker<Value>({ families, read, needsOf, serve }: CheckedBroker<Value>): Broker {
  return {
    families,
    needs(request) {
      const known = read(request);
      return known.ok ? { ok: true, needs: needsOf(known.value) } : known;
    },
    async serve(request, session) {
      const known = read(request);
      if (!known.ok) return known;
      if (session.signal.aborted) return cancelled;
      const reply = await serve(known.value, session);
      return session.signal.aborted ? cancelled : reply;
    },
  };
}
