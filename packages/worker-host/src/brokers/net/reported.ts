import { parseUrl } from "@keyhole/kernel";
import { type Refused, refused } from "../fault.ts";
import { hasPolicies, watchPolicy } from "../page-policy.ts";

/**
 * The refusal of a request whose query has a secret, where a policy of the page would report the
 * address: a collector then has the value. No script can read the policies of its page, of which
 * some only report. So the address is asked without its query first.
 *
 * @param ask sends a request to this address, under the policies that the real one meets
 */
export async function refusalOfReport(
  { host, origin, pathname }: URL,
  ask: (address: string, method: string) => Promise<Response>,
): Promise<Refused | undefined> {
  if (!hasPolicies) return undefined;
  const policy = watchPolicy((blocked) => parseUrl(blocked)?.origin === origin, true);
  try {
    // No policy looks at a query.
    await ask(origin + pathname, "OPTIONS").then(
      (response) => response.body?.cancel(),
      () => {}, // The server's answer matters to the request itself alone.
    );
    const lacks = await policy.lacks();
    return lacks === undefined
      ? undefined
      : refused(
          "CAPABILITY_DENIED",
          `The Content-Security-Policy of this page reports requests to ${host} with their query, and this query has a secret.`,
          "Send the secret in a header or in the body.",
          `Add ${lacks} to each policy of the page, also to one that only reports; in a worker, to those of the worker's file.`,
        );
  } finally {
    policy.leave();
  }
}
