import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { descendants } from "../../scripts/serve/processes.mjs";

export interface Listener {
  readonly port: number;
  readonly pid: number;
  readonly command: string;
  /** Whether it can be reached from this machine only. */
  readonly isLoopback: boolean;
}

/** The state LISTEN in the tables of proc_net_tcp(5). */
const listening = "0A";

/** Every port on which a process below `ancestor`, or it itself, listens. */
export function listenersBelow(ancestor: number): Listener[] {
  const byInode = new Map<string, { readonly port: number; readonly isLoopback: boolean }>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readFileSync(table, "utf8").split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      if (state !== listening) continue;
      const [address = "", port = ""] = local.split(":");
      const isLoopback = address === "0100007F" || address === "00000000000000000000000001000000";
      byInode.set(inode, { port: Number.parseInt(port, 16), isLoopback });
    }
  }
  return [{ pid: ancestor, command: "npm start" }, ...descendants(ancestor)].flatMap(({ pid, command }) =>
    socketsOf(pid).flatMap((inode) => {
      const found = byInode.get(inode);
      return found === undefined ? [] : [{ ...found, pid, command }];
    }),
  );
}

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? [];
    } catch {
      return []; // It was closed while we looked.
    }
  });
}
