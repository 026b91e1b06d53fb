import { lineOf } from "./clean.ts";

/** The meaning of the first letter of `stat` (ps(1), "PROCESS STATE CODES"). */
const states = new Map([
  ["R", "running"],
  ["S", "sleeping"],
  ["I", "idle"],
  ["D", "waiting"],
  ["T", "stopped"],
  ["t", "stopped"],
  ["Z", "zombie"],
  ["X", "dead"],
] as const);

export const stateNames = ["running", "sleeping", "idle", "waiting", "stopped", "zombie", "dead", "unknown"] as const;
export type ProcessState = (typeof stateNames)[number];

export interface ProcessInfo {
  readonly pid: number;
  readonly parentPid: number;
  readonly userId: number;
  readonly state: ProcessState;
  readonly ageSeconds: number;
  readonly residentBytes: number;
  readonly averageCpuPercent: number;
  /** As `ps` writes it, and not yet fit to be shown: see {@link shown}. */
  readonly name: string;
}

/** The columns that {@link processesOf} reads. The name comes last, because it can hold spaces. */
export const psColumns = "pid=,ppid=,uid=,stat=,etimes=,rss=,pcpu=,comm=";

const row = /^ *(\d+) +(\d+) +(\d+) +(\S+) +(\d+) +(\d+) +(\d+(?:\.\d+)?) (.*)$/;

/** Reads `ps -e -o` {@link psColumns}. `ps` writes `?` in the place of a line end, so each line is one process. */
export function processesOf(ps: string): readonly ProcessInfo[] {
  return ps.split("\n").flatMap((line) => {
    const [, pid, parentPid, userId, state, age, kib, cpu, name] = row.exec(line) ?? [];
    if (name === undefined) return [];
    return [
      {
        pid: Number(pid),
        parentPid: Number(parentPid),
        userId: Number(userId),
        state: stateOf(state),
        ageSeconds: Number(age),
        residentBytes: Number(kib) * 1_024,
        averageCpuPercent: Number(cpu),
        name,
      },
    ];
  });
}

function stateOf(stat: string | undefined): ProcessState {
  const [letter = ""] = stat ?? "";
  return [...states].find(([each]) => each === letter)?.[1] ?? "unknown";
}

export function shown(process: ProcessInfo): ProcessInfo {
  return { ...process, name: lineOf(process.name) };
}

/** Whether a process can do its work: a stopped one does not, and a zombie has ended. */
export function isAlive({ state }: ProcessInfo): boolean {
  return state !== "stopped" && state !== "zombie" && state !== "dead";
}

/** A socket that waits for connections (TCP) or datagrams (UDP). */
export interface Listener {
  readonly protocol: "tcp" | "udp";
  readonly address: string;
  readonly port: number;
  /** Processes that hold it. Empty where this user may not know them. */
  readonly pids: readonly number[];
}

const socketRow = /^(tcp|udp) +\S+ +\d+ +\d+ +(\S+):(\d+) +\S+:(?:\*|\d+)(?: |$)/;
/** Behind the name of a process, which `ss` writes as it is: a name can hold this text as well. */
const holder = /",pid=(\d+),fd=\d+\)(?=,\("|\)[ \n]*$)/g;

/**
 * Reads `ss -H -l -n -t -u -p`. A process can choose 15 bytes of its name, line ends and quotes
 * included. So it can write another pid into the line. A pid counts only where the text before it
 * is the name that `ps` has for it.
 *
 * @param processes the result of {@link processesOf}
 */
export function listenersOf(ss: string, processes: readonly ProcessInfo[]): readonly Listener[] {
  const names = new Map(processes.map(({ pid, name }) => [pid, name]));
  return socketsOf(ss).flatMap((text) => {
    const [, protocol, address = "", port] = socketRow.exec(text) ?? [];
    if (protocol !== "tcp" && protocol !== "udp") return [];
    const pids = Array.from(text.matchAll(holder)).flatMap(({ index, 1: digits }) => {
      const pid = Number(digits);
      const name = names.get(pid);
      return name !== undefined && endsWithName(text.slice(0, index), name) ? [pid] : [];
    });
    return [{ protocol, address: lineOf(address), port: Number(port), pids: [...new Set(pids)] }];
  });
}

/** Lines of sockets, each with the lines behind it that a name of a process broke off. No name is long enough to begin a line of its own. */
function socketsOf(ss: string): readonly string[] {
  const sockets: string[] = [];
  for (const line of ss.split("\n")) {
    const last = sockets.at(-1);
    if (socketRow.test(line) || last === undefined) sockets.push(line);
    else sockets[sockets.length - 1] = `${last}\n${line}`;
  }
  return sockets;
}

/** `ps` writes `?` for each byte that it does not show, `ss` writes the byte. */
function endsWithName(text: string, name: string): boolean {
  const start = text.length - name.length;
  if (start < 2 || text.slice(start - 2, start) !== '("') return false;
  for (let at = 0; at < name.length; at++) if (name[at] !== "?" && name[at] !== text[start + at]) return false;
  return true;
}
