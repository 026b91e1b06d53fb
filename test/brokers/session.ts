import type { BrokerSession, CallSecrets, Capability, BrokerError } from "@keyhole/kernel";
import { openSecrets } from "../support/open-secrets.ts";
import { covers, grantOf } from "../support/grants.ts";

export interface SessionOptions extends Partial<Pick<BrokerSession, "caller" | "outermostId">> {
  readonly grants?: readonly Capability[];
  readonly networkRequests?: number;
  readonly networkBytes?: number;
  /** What `limit` answers, whatever it is asked for. Default: none. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
  readonly secrets?: CallSecrets;
}

export interface TestSession extends BrokerSession {
  readonly used: { networkRequests: number; networkBytes: number };
}

const everything: readonly Capability[] = [
  { kind: "fs.read", paths: ["**"] },
  { kind: "fs.write", paths: ["**"] },
  { kind: "db.read", databases: ["*"] },
  { kind: "db.write", databases: ["*"], statements: ["insert", "update", "delete", "create", "alter", "drop"] },
  { kind: "kv.read", keys: ["*"] },
  { kind: "kv.write", keys: ["*"] },
];

/** What the kernel's gate gives a broker, without a call around it. */
export function openSession(options: SessionOptions = {}): TestSession {
  const {
    grants = everything,
    caller = "ada",
    outermostId = "call",
    networkRequests = 100,
    networkBytes = 1 << 20,
    limit = Infinity,
    signal = new AbortController().signal,
    secrets = openSecrets({ get: () => undefined }),
  } = options;
  const grant = grantOf(grants, [grants]);
  const used = { networkRequests: 0, networkBytes: 0 };
  const exceeded: BrokerError = { code: "BOUNDS_EXCEEDED", message: "The budget is spent.", hint: "" };
  return {
    used,
    caller,
    outermostId,
    signal,
    refusal: (need) =>
      covers(grant, need) ? undefined : { code: "CAPABILITY_DENIED", message: "No grant.", hint: "" },
    spend({ networkRequests: requests = 0, networkBytes: bytes = 0 }) {
      if (used.networkRequests + requests > networkRequests || used.networkBytes + bytes > networkBytes)
        return exceeded;
      used.networkRequests += requests;
      used.networkBytes += bytes;
      return undefined;
    },
    limit: () => limit,
    secrets,
  };
}
