import type { Broker, BrokerSession, BrokerReply, CapabilityRequest, Need } from "@keyhole/kernel";
import { cancelled, type Refused } from "./fault.ts";

/** The parts of a broker over one store. */
interface CheckedBroker<Value> {
  readonly families: Broker["families"];
  readonly read: (request: CapabilityRequest) => { readonly ok: true; readonly value: Value } | Refused;
  readonly needsOf: (value: Value) => readonly Need[];
  readonly serve: (value: Value, session: BrokerSession) => Promise<BrokerReply>;
}

/**
 * A broker that reads each request and serves the read copy. It reads a request again to serve it,
 * because the gate asks for the need first. The kernel drops an answer after the end of its call.
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
