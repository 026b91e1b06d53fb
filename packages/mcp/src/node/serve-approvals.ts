import { knownOptions } from "@keyhole/kernel/foreign";
import { type ApprovalPages, approvalPages, type ApprovalPagesOptions, pagesOptions } from "../approvals/pages.ts";
import { listen } from "./listen.ts";

export interface ApprovalServer extends ApprovalPages {
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Serves approval pages to this machine, at 127.0.0.1.
 *
 * @param port Default: a free one. Passkeys need one that stays, since the policy names the origin.
 * @param host In the address that people open. Passkeys need `localhost`: browsers give none to a page reached by an address of numbers. Default `127.0.0.1`.
 * @throws TypeError without keys and passkeys
 * @example
 * const pages = await serveApprovals({ keys: [{ approver: "ada", digest }], notify: (_, url) => console.error(url) });
 */
export async function serveApprovals(
  given: Omit<ApprovalPagesOptions, "origin"> & {
    readonly port?: number;
    readonly host?: "127.0.0.1" | "localhost";
  },
): Promise<ApprovalServer> {
  const { origin: _, ...names } = pagesOptions;
  const known = knownOptions(given, { ...names, port: 0, host: true }, "serveApprovals");
  const { port = 0, host = "127.0.0.1", ...options } = known;
  let pages: ApprovalPages | undefined;
  const unready = new Response(null, { status: 503 });
  const { origin: listening, close } = await listen(async (request) => pages?.fetch(request) ?? unready, {
    port,
    address: "127.0.0.1",
  });
  const origin = listening.replace("127.0.0.1", host);
  try {
    pages = approvalPages({ ...options, origin });
  } catch (error) {
    await close();
    throw error;
  }
  const { approver, url, fetch } = pages;
  return { approver, url, fetch, origin, close };
}
