import type { BrokerSession, CapabilityError, Usage } from "./broker.ts";
import type { CapabilityKind } from "./capability.ts";
import type { GateCounts } from "./counts.ts";
import { type Grant, totalOf } from "./grant.ts";
import { bounds } from "./refusals.ts";

/** What a call has used up of it so far. */
type Spent = { -readonly [Name in "networkRequests" | "networkBytes" | "fileBytes"]: GateCounts[Name] };

/** What a call may use up. */
export interface Budget {
  readonly grant: Grant;
  readonly networkRequests: number;
  readonly networkBytes: number;
  /** The budget of the call from within which this one was made. */
  readonly spend?: BrokerSession["spend"] | undefined;
}

const fileKinds = ["fs.read", "fs.write"] as const;

/** Bytes of files in one call, by kind. Counted before they are written, and before they are handed over. */
export function spendFile(
  kind: CapabilityKind,
  bytes: Uint8Array | undefined,
  spent: Spent,
  budget: Budget,
): CapabilityError | undefined {
  return bytes && (kind === "fs.read" || kind === "fs.write")
    ? spend({ [kind]: bytes.byteLength }, spent, budget)
    : undefined;
}

/** Counts for this call and for all around it, or for none. */
export function spend(usage: Usage, spent: Spent, budget: Budget): CapabilityError | undefined {
  const { networkRequests, networkBytes, grant } = budget;
  const { networkRequests: requests = 0, networkBytes: bytes = 0 } = usage;
  if (spent.networkRequests + requests > networkRequests)
    return bounds(`The call may make ${networkRequests} network requests.`);
  if (spent.networkBytes + bytes > networkBytes)
    return bounds(`The call may move ${networkBytes} bytes over the network.`);
  for (const kind of fileKinds) {
    if (usage[kind] === undefined) continue;
    const total = totalOf(grant, [kind], "totalBytes");
    if (spent.fileBytes[kind] + usage[kind] > total)
      return bounds(`The call may ${kind === "fs.read" ? "read" : "write"} ${total} bytes of files.`);
  }
  const refusal = budget.spend?.(usage);
  if (refusal) return refusal;
  spent.networkRequests += requests;
  spent.networkBytes += bytes;
  for (const kind of fileKinds)
    spent.fileBytes = { ...spent.fileBytes, [kind]: spent.fileBytes[kind] + (usage[kind] ?? 0) };
  return undefined;
}
