import type { BrokerSession } from "@keyhole/kernel";
import { type Refused, refused } from "../fault.ts";

/** The content codings that `fetch` undoes on every host. Each host undoes others too: no tool may see an answer on one host that another withholds. */
const undone: readonly string[] = ["gzip", "br"];

/** Requests no other coding where the kernel searches the answer. A browser sends its own list. */
export function codingHeaders({ secrets }: BrokerSession): readonly (readonly [string, string])[] {
  return secrets.isSearching() ? [["accept-encoding", undone.join(", ")]] : [];
}

/**
 * `fetch` hands on a body in a coding that it does not know, and a search of such bytes finds nothing. It knows words in lower case, one at a time: a list,
 * a parameter and another spelling are known to some hosts only.
 */
export function codingRefusal(
  { headers }: Pick<Response, "headers">,
  host: string,
  { secrets }: BrokerSession,
): Refused | undefined {
  const coding = headers.get("content-encoding");
  if (coding === null || undone.includes(coding) || !secrets.isSearching()) return undefined;
  return refused(
    "CAPABILITY_DENIED",
    `${host} encoded its answer. The kernel searches answers for the secrets with a grant there, and reads gzip and br only.`,
    "The request may have had its effect. Do not repeat it; tell the user.",
    "Let the server send gzip, br, or no Content-Encoding.",
  );
}
