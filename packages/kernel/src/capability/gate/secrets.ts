import type { BrokerError, BrokerReply } from "../request.ts";
import type { Family, OwnNeed } from "../family.ts";
import { noSecrets, type OpenSecrets, type SecretKeeper } from "../secret.ts";

/** The parts with which a call uses secrets and has answers searched for them. */
export interface GateSecretsOptions {
  readonly keeper: SecretKeeper;
  /** Marks the call's own placeholders. */
  readonly token: string;
  /** Makes the need of using a secret at a host. */
  readonly needOf: NonNullable<Family["secretNeed"]>;
  /** The kernel's. */
  readonly clock: { after(delayMs: number, callback: () => void, how?: "idly"): () => void };
  /** Names, exact or as a pattern, that the policy grants to any tool and caller at a host. */
  readonly namesAt: (host: string) => readonly string[];
}

/** The secrets of one call, for all its runs: a value that one run revealed can come back in any. */
export class GateSecrets {
  readonly #options: GateSecretsOptions | undefined;
  readonly #revealed: readonly string[];
  /** The gate of the present run decides. */
  #refusal: (need: OwnNeed) => BrokerError | undefined = () => undefined;
  #opened: OpenSecrets = noSecrets;
  /**
   * Reached hosts, and whether the broker called them public: a secret's wildcard covers public
   * ones.
   */
  readonly #hosts = new Map<string, boolean>();
  /*
   * From the policy, not from the grant of this call: a server answers the tool that only reads with what another tool told it, and a caller could narrow the
   * grant for secrets away to see them.
   */
  readonly #granted: string[] = [];

  /** @param revealed names whose values the call had revealed before it was suspended */
  constructor(options: GateSecretsOptions | undefined, revealed: readonly string[]) {
    this.#options = options;
    this.#revealed = revealed;
  }

  /** A run begins. */
  enter(refusal: (need: OwnNeed) => BrokerError | undefined): void {
    this.#refusal = refusal;
  }

  /** Opened for the first broker that serves: most calls ask for nothing. */
  open(): OpenSecrets {
    if (this.#opened !== noSecrets || !this.#options) return this.#opened;
    const { keeper, token, needOf, clock } = this.#options;
    return (this.#opened = keeper.open({
      token,
      after: (delayMs, callback) => clock.after(delayMs, callback, "idly"),
      refusal: (name, host) => this.#refusal(needOf(name, host, this.#hosts.get(host) ?? false)),
      granted: () => this.#granted,
      revealed: this.#revealed,
    }));
  }

  /**
   * Notes the host of a request or a hop: its answer can contain anything that any party told the
   * host.
   */
  reach(host: string, isPublic: boolean): void {
    if (!this.#options) return;
    if (!this.#hosts.has(host)) this.#granted.push(...this.#options.namesAt(host));
    this.#hosts.set(host, isPublic || this.#hosts.get(host) === true);
  }

  /** At once, where there are no secrets. */
  clean(reply: BrokerReply): BrokerReply | Promise<BrokerReply> {
    return this.#opened === noSecrets ? reply : this.#opened.clean(reply);
  }

  /** The secrets revealed since the last call of this method, with the need of each. */
  takeUses(): readonly { readonly name: string; readonly host: string; readonly need: OwnNeed }[] {
    const needOf = this.#options?.needOf;
    if (!needOf) return [];
    return this.#opened.takeUses().map(({ name, host }) => ({ name, host, need: needOf(name, host, false) }));
  }
}
