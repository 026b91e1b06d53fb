import { type ApprovalDesk, approvalDesk, type ApprovalDeskOptions } from "../approvals/desk.ts";
import { listen } from "./listen.ts";

export interface ApprovalServer extends ApprovalDesk {
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Serves an approval desk to this machine, at 127.0.0.1.
 *
 * @throws TypeError without keys
 * @example
 * const desk = await serveApprovals({ keys: [{ approver: "ada", digest }], notify: (_, url) => console.error(url) });
 */
export async function serveApprovals({
  port = 0,
  ...options
}: Omit<ApprovalDeskOptions, "origin"> & { readonly port?: number }): Promise<ApprovalServer> {
  let desk: ApprovalDesk | undefined;
  const unready = new Response(null, { status: 503 });
  const { origin, close } = await listen(async (request) => desk?.fetch(request) ?? unready, {
    port,
    address: "127.0.0.1",
  });
  try {
    desk = approvalDesk({ ...options, origin });
  } catch (error) {
    await close();
    throw error;
  }
  const { approver, url, fetch } = desk;
  return { approver, url, fetch, origin, close };
}
