import { knownOptions } from "@keyhole/kernel/foreign";
import { type ApprovalDesk, approvalDesk, type ApprovalDeskOptions, deskOptions } from "../approvals/desk.ts";
import { listen } from "./listen.ts";

export interface ApprovalServer extends ApprovalDesk {
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Serves an approval desk to this machine, at 127.0.0.1.
 *
 * @param port Default: a free one. Passkeys need one that stays, since the policy names the origin.
 * @param host In the address that people open. Passkeys need `localhost`: browsers give none to a page reached by an address of numbers. Default `127.0.0.1`.
 * @throws TypeError without keys and passkeys
 * @example
 * const desk = await serveApprovals({ keys: [{ approver: "ada", digest }], notify: (_, url) => console.error(url) });
 */
export async function serveApprovals(
  given: Omit<ApprovalDeskOptions, "origin"> & {
    readonly port?: number;
    readonly host?: "127.0.0.1" | "localhost";
  },
): Promise<ApprovalServer> {
  const { origin: _, ...names } = deskOptions;
  const known = knownOptions(given, { ...names, port: 0, host: true }, "serveApprovals");
  const { port = 0, host = "127.0.0.1", ...options } = known;
  let desk: ApprovalDesk | undefined;
  const unready = new Response(null, { status: 503 });
  const { origin: listening, close } = await listen(async (request) => desk?.fetch(request) ?? unready, {
    port,
    address: "127.0.0.1",
  });
  const origin = listening.replace("127.0.0.1", host);
  try {
    desk = approvalDesk({ ...options, origin });
  } catch (error) {
    await close();
    throw error;
  }
  const { approver, url, fetch } = desk;
  return { approver, url, fetch, origin, close };
}
