import { isOfDomain } from "../../support/domain.ts";
import { parseUrl } from "../../support/parse-url.ts";
import type { DocumentFault } from "./invalid.ts";
import type { Passkeys, PolicyDocument } from "./policy.ts";

/** A demand that no passkey can meet denies every call that asks, and a passkey that cannot count is a mistake: the kernel refuses both. */
export function passkeysFault({
  approver,
  approvers,
  passkeys,
  rules = [],
}: PolicyDocument): DocumentFault | undefined {
  const idle = rules.findIndex((rule) => rule.approver !== undefined && rule.effect !== "ask");
  if (idle >= 0)
    return { path: `/rules/${idle}/approver`, message: "Got `approver` in a rule that does not ask, expected none." };
  if (passkeys) return keysFault(passkeys, approvers) ?? originsFault(passkeys);
  const demanding = approver === undefined ? rules.findIndex((rule) => rule.approver !== undefined) : -1;
  if (approver === undefined && demanding < 0) return undefined;
  return {
    path: demanding < 0 ? "/approver" : `/rules/${demanding}/approver`,
    message: "The policy demands a passkey and has no `passkeys`.",
    hint: "Add `passkeys` with `rpId`, `origins` and `keys`.",
  };
}

function keysFault({ keys }: Passkeys, approvers: readonly string[] | undefined): DocumentFault | undefined {
  const seen = new Set<string>();
  for (const [index, { approver, credentialId }] of keys.entries()) {
    if (seen.has(credentialId))
      return { path: `/passkeys/keys/${index}/credentialId`, message: "Two passkeys have the same credential id." };
    seen.add(credentialId);
    if (approvers?.includes(approver) === false)
      return {
        path: `/passkeys/keys/${index}/approver`,
        message: `${JSON.stringify(approver)} is not one of the policy's \`approvers\`, so the passkey never counts.`,
      };
  }
  return undefined;
}

/** A browser gives a passkey to pages of its domain alone, and to none that could have been changed on its way. */
function originsFault({ rpId, origins }: Passkeys): DocumentFault | undefined {
  for (const [index, origin] of origins.entries()) {
    const url = parseUrl(origin);
    const isLocal = url !== undefined && isOfDomain(url.hostname, "localhost");
    const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && isLocal);
    const isOwn = url !== undefined && isOfDomain(url.hostname, rpId);
    if (url?.origin !== origin || !isSecure || !isOwn)
      return {
        path: `/passkeys/origins/${index}`,
        message: `Got ${JSON.stringify(origin)}, expected an https origin of ${rpId} or below it.`,
        hint: `Write https://${rpId}, without a path. http is for localhost.`,
      };
  }
  return undefined;
}
