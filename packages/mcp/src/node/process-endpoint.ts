import { knownOptions } from "@keyhole/kernel/foreign";
import { basename } from "node:path";
import { checkCommand } from "@keyhole/kernel";
import type { McpEndpoint } from "../source/endpoint.ts";
import { ProcessTransport } from "./process-transport.ts";

export interface McpProcessOptions {
  /** A program, by its path or by a name in `PATH`. There is no shell. */
  readonly command: string;
  /** Grants and manifests name each argument: put secrets into `env`. */
  readonly args?: readonly string[];
  /** Besides `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL` and `TERM`, which it gets from this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the folder of this process. */
  readonly cwd?: string;
}

/**
 * A server that is a process of its own, over its stdin and stdout. It has the rights of the user who runs this program, and ends with the connection, with all that it
 * started. Its tools need `process.spawn` for the command with these arguments.
 *
 * @throws TypeError for a command whose name cannot be granted
 * @example
 * const server = mcpProcess({ command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "./notes"] });
 */
export function mcpProcess(options: McpProcessOptions): McpEndpoint {
  const {
    command,
    args = [],
    env = {},
    cwd,
  } = knownOptions(options, { command: true, args: true, env: true, cwd: true }, "mcpProcess");
  const name = basename(command);
  const fault = checkCommand(name);
  if (fault !== undefined) throw new TypeError(`${JSON.stringify(name)}: ${fault}.`);
  const variables = Object.keys(env).toSorted();
  return {
    way: { command, args: [...args], env: variables, ...(cwd !== undefined && { cwd }) },
    capabilities: [{ kind: "process.spawn", commands: [{ command: name, args: [...args] }] }],
    effects: ["process.spawn"],
    needs: [{ kind: "process.spawn", command: name, args: [...args] }],
    open: (around) => new ProcessTransport({ command, args, env, cwd }, around),
  };
}
