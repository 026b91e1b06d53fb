import type { BrokerSession } from "../broker.ts";
import type { BrokerReply } from "../request.ts";
import { placeholderMark } from "../../id/placeholder.ts";
import type { CallSecrets, Revealed } from "../secret.ts";

/** The requests of a call that carry the value of a secret: they end when the grant for secrets does. */
export class SecretBearingRequests {
  readonly #carrying = new Set<() => void>();

  /** Serves one request in a session that, from the first revealed value on, ends with {@link end} as well. `undefined` when it did. */
  async serve(
    session: BrokerSession,
    serve: (session: BrokerSession) => Promise<BrokerReply>,
  ): Promise<BrokerReply | undefined> {
    const own = new AbortController();
    const onEnd = (): void => own.abort(session.signal.reason);
    if (session.signal.aborted) onEnd();
    else session.signal.addEventListener("abort", onEnd, { once: true });
    const lost = new AbortController();
    const drop = (): void => {
      lost.abort();
      own.abort("the grant was revoked");
    };
    const carries = (): void => void this.#carrying.add(drop);
    try {
      const reply = await serve({ ...session, signal: own.signal, secrets: noticing(session.secrets, carries) });
      return lost.signal.aborted ? undefined : reply;
    } finally {
      this.#carrying.delete(drop);
      session.signal.removeEventListener("abort", onEnd);
    }
  }

  end(): void {
    for (const drop of this.#carrying) drop();
  }
}

function noticing(secrets: CallSecrets, carries: () => void): CallSecrets {
  const noticed = async <Content>(text: string, revealing: Promise<Revealed<Content>>): Promise<Revealed<Content>> => {
    const revealed = await revealing;
    if (revealed.ok && text.includes(placeholderMark)) carries();
    return revealed;
  };
  return {
    reveal: (text, host, encode) => noticed(text, secrets.reveal(text, host, encode)),
    revealBytes: (bytes, host, encode) =>
      noticed(new TextDecoder().decode(bytes), secrets.revealBytes(bytes, host, encode)),
    isSearching: () => secrets.isSearching(),
    redact: (text) => secrets.redact(text),
    redactor: () => secrets.redactor(),
  };
}
