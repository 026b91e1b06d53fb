import { blake3DeriveKey, blake3Keyed } from "@keyhole/kernel";
import { readTokens } from "./auth.ts";

/** Below it each tenant has its pages. */
export const approvalPages = "/approvals/";

const encoder = new TextEncoder();

/** More than a sender can guess. */
const SEAL_BYTES = 16;

/**
 * The path of a tenant's approval pages. Its last part is a seal: the gateway knows a kernel's page without waking that kernel. So an address tells no stranger
 * whether there is such a tenant.
 *
 * @param tokens `KEYHOLE_TOKENS`, the key of the seal: with other tokens open questions have other addresses
 * @returns `undefined` without a token: everybody could make the seal
 * @throws {Misconfigured}
 */
export function approvalPath(tenant: string, tokens = ""): string | undefined {
  if (readTokens(tokens).size === 0) return undefined;
  const key = blake3DeriveKey("keyhole edge approval pages", encoder.encode(tokens));
  const seal = blake3Keyed(key, encoder.encode(tenant), SEAL_BYTES);
  const hex = Array.from(seal, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${approvalPages}${encodeURIComponent(tenant)}/${hex}/`;
}
