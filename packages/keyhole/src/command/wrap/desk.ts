import { isJsonObject } from "@keyhole/kernel";
import { once } from "node:events";
import type { ApprovalKey } from "@keyhole/mcp";
import type { ApprovalServer } from "@keyhole/mcp/node";
import { type CommandIo, type CommandResult, Unusable, visible } from "../io.ts";
import type { McpParts } from "./parts.ts";

/** A browser gives passkeys to pages of this name, and to none at an address. */
const rpId = "localhost";
/** Of the first passkey. The policy then names the port, because a passkey counts at the pages that the policy names. */
const passkeyPort = 41_700;

interface Answerers {
  readonly keys: readonly ApprovalKey[];
  readonly policy: unknown;
}

/** `undefined` where no approver has a key or a passkey: then a question is a denial. @throws {Unusable} where no port of the policy's pages is free */
export async function openDesk(
  { keys, policy }: Answerers,
  { node }: McpParts,
  io: CommandIo,
): Promise<ApprovalServer | undefined> {
  const notify = ({ tool }: { readonly tool: string }, url: string): void =>
    io.note(`${visible(tool)} waits for an approval: ${url}\n`);
  const ports = passkeyPorts(policy);
  if (ports.length === 0) return keys.length === 0 ? undefined : node.serveApprovals({ keys, notify });
  for (const port of ports) {
    const desk = await node
      .serveApprovals({ keys, passkeys: { rpId }, host: rpId, port, notify })
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EADDRINUSE") return undefined;
        throw error;
      });
    if (desk) return desk;
  }
  const message = `Each port of the pages in \`passkeys.origins\` is in use: ${ports.join(", ")}.`;
  throw new Unusable(
    `${message} End the program that has it, or add another origin, such as http://localhost:${passkeyPort + 1}.`,
  );
}

/** Ports of this machine at which the policy's passkeys count: one for each client that wraps the server at the same time. */
function passkeyPorts(policy: unknown): readonly number[] {
  const passkeys = isJsonObject(policy) ? policy["passkeys"] : undefined;
  const origins = isJsonObject(passkeys) && passkeys["rpId"] === rpId ? passkeys["origins"] : [];
  return (Array.isArray(origins) ? origins : []).flatMap((origin) => {
    const port = /^http:\/\/localhost:(\d{1,5})$/.exec(String(origin))?.[1];
    return port === undefined ? [] : [Number(port)];
  });
}

/** Serves the page on which a person makes a passkey, until the command is interrupted. */
export async function makePasskey({ node }: McpParts, io: CommandIo): Promise<CommandResult> {
  const desk = await node
    .serveApprovals({ keys: [], passkeys: { rpId }, host: rpId, port: passkeyPort })
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      throw new Unusable(`Port ${passkeyPort} is taken. End the program that has it, and try again.`);
    });
  io.note(`Open ${desk.origin}/approvals/passkey in a browser. Press Ctrl-C when you have the passkey.\n`);
  if (!io.signal.aborted) await once(io.signal, "abort");
  await desk.close();
  return { exitCode: 0, output: "" };
}
