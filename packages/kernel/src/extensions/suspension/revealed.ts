import type { CapabilityError } from "../../capability/broker.ts";
import type { OpenSecrets, SecretKeeper } from "../../capability/secret.ts";
import { placeholder, secretToken } from "../../id/placeholder.ts";
import { gatePart } from "../../call/carried-part.ts";
import { type FrozenCall, partOf } from "./frozen.ts";

/**
 * The kernel's keeper, which knows again what the calls had told others before they were suspended: a server can still give it back. The values are those of
 * today; a snapshot has none.
 */
export async function withSecrets(keeper: SecretKeeper, calls: readonly FrozenCall[]): Promise<SecretKeeper> {
  const known = new Map<string, { readonly secrets: OpenSecrets; use: Refusal }>();
  for (const { seed, parts } of calls) {
    const revealed = partOf(parts, gatePart)?.revealed ?? [];
    if (revealed.length === 0) continue;
    const token = secretToken(seed);
    const entry: { secrets: OpenSecrets; use: Refusal } = {
      use: () => undefined,
      secrets: keeper.open({ token, refusal: (name, host) => entry.use(name, host) }),
    };
    for (const { name, host } of revealed) await entry.secrets.reveal(placeholder(token, name), host);
    entry.secrets.takeUses(); // They are in the journal.
    known.set(token, entry);
  }
  return {
    open(call) {
      const entry = known.get(call.token);
      if (!entry) return keeper.open(call);
      entry.use = call.refusal;
      return entry.secrets;
    },
  };
}

type Refusal = (name: string, host: string) => CapabilityError | undefined;
