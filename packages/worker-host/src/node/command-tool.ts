import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { Isolate, IsolateHost, RegisteredTool } from "@keyhole/kernel";
import { openProcess } from "../process/isolate.ts";
import type { SpawnCommand } from "./spawn.ts";

type Commands = Readonly<Record<string, SpawnCommand | string>>;

/** A tool that is a program can only be registered where the host was told which program that is. */
export function commandFault(
  { id, body }: RegisteredTool,
  commands: Commands,
): ReturnType<NonNullable<IsolateHost["check"]>> {
  if (body.source !== "process" || Object.hasOwn(commands, body.command)) return undefined;
  return {
    code: "INVALID_MANIFEST",
    path: "/process/command",
    message: `${id} is the program ${body.command}, which this host does not offer.`,
    hint: `Name its path: nodeHost({ commands: { ${JSON.stringify(body.command)}: "/…" } }).`,
  };
}

export function openCommand(
  body: Extract<RegisteredTool["body"], { source: "process" }>,
  commands: Commands,
  open: Set<Isolate["terminate"]>,
): Isolate {
  const command = Object.hasOwn(commands, body.command) ? commands[body.command] : undefined;
  const path = typeof command === "string" ? command : command?.path;
  const isolate = openProcess(body, async () => {
    if (path === undefined) return "The host does not offer it.";
    return access(path, constants.X_OK).then(
      () => undefined,
      () => "The host's file for it cannot be executed.",
    );
  });
  const terminate = (reason: string): void => {
    open.delete(terminate);
    isolate.terminate(reason);
  };
  open.add(terminate);
  return {
    call: (call, port) => isolate.call(call, port),
    terminate,
    get alive() {
      return isolate.alive;
    },
  };
}
