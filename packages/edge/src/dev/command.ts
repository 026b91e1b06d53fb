import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { visible } from "@keyhole/kernel/visible";
import { type Edge, startEdge } from "./edge.ts";
import { chosenToken, isFree } from "./start-settings.ts";

const usage = `keyhole-edge dev [--config FILE] [--env NAME] [--port NUMBER] [--state FOLDER]

dev   runs the Worker of a wrangler configuration on this machine, in place of \`wrangler dev\`. Tools run in a sandbox, a process of its own:
      a tool that spins is ended with it, and both are started again when they end. The Worker has to be built.
  --config  wrangler's configuration. Default: wrangler.toml
  --env     an environment of it
  --port    of 127.0.0.1. Default: 8787
  --state   where log and files are kept. Default: .wrangler/state
The environment variable KEYHOLE_TOKEN sets the token, where the Worker has no KEYHOLE_TOKENS.
`;

const options = {
  config: { type: "string", default: "wrangler.toml" },
  env: { type: "string" },
  port: { type: "string", default: "8787" },
  state: { type: "string", default: ".wrangler/state" },
  help: { type: "boolean" },
} as const;

interface Typed {
  readonly config: string;
  readonly environment: string | undefined;
  readonly port: number;
  readonly state: string;
}

/** The command line of `keyhole-edge`. Sets the exit code: 0 when it was ended, 1 when the Worker does not run, 2 for what cannot be meant. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const typed = readArguments(args);
  if (typeof typed === "string") {
    process.stderr.write(shown(process.stderr, typed));
    process.exitCode = typed === usage ? 0 : 2;
    return;
  }
  await dev(typed);
}

/** @returns a text for the person in place of what cannot be run */
function readArguments(args: readonly string[]): Typed | string {
  try {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, strict: true, options });
    if (values.help === true || positionals.length === 0) return usage;
    if (positionals.join(" ") !== "dev") return `keyhole-edge knows no command ${positionals.join(" ")}.\n\n${usage}`;
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      return `--port is ${values.port}: a port is a number from 1 to 65535.\n`;
    return { config: values.config, environment: values.env, port, state: values.state };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n`;
  }
}

async function dev(typed: Typed): Promise<void> {
  const startedAtMs = Date.now();
  const approvalKey = randomBytes(24).toString("base64url");
  let edge: Edge | undefined;
  let ending = false;
  const end = async (code: number, reason = ""): Promise<void> => {
    if (ending) return;
    ending = true;
    process.stderr.write(shown(process.stderr, reason));
    await edge?.stop();
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(0));
  try {
    if (!(await isFree(typed.port))) throw new Error(`Port ${typed.port} is taken. Name another one with --port.`);
    edge = await startEdge({
      ...typed,
      token: chosenToken(),
      approvalKey,
      onLine: (line) => void process.stdout.write(shown(process.stdout, `${line}\n`)),
    });
  } catch (error) {
    return end(1, `${error instanceof Error ? error.message : String(error)}\n`);
  }
  void edge.failed.then((reason) => end(1, `${reason}\n`));
  const isOpened = edge.token !== undefined;
  const tokens = isOpened ? edge.token : "those of KEYHOLE_TOKENS";
  const key = isOpened ? `\n  approval key, for pages that ask  ${approvalKey}` : "";
  const seconds = ((Date.now() - startedAtMs) / 1_000).toFixed(1);
  process.stdout.write(
    `ready in ${seconds} s\n\n  edge   ${edge.url}\n  token  ${tokens}${key}\n\nCtrl-C ends everything.\n`,
  );
}

/** A terminal gets no character that steers it: a Worker prints what a tool says. A pipe gets the text itself. */
function shown(stream: { readonly isTTY?: boolean }, text: string): string {
  return stream.isTTY ? visible(text) : text;
}
