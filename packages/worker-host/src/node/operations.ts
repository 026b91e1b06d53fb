import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Capability, PolicyDocument, ToolPackage } from "@keyhole/kernel";
import type { SpawnCommand } from "./spawn.ts";
import checkProcessHealth from "keyhole:../tools/operations/check-process-health.ts";
import gitStatus from "keyhole:../tools/operations/git-status.ts";
import readSystemLogs from "keyhole:../tools/operations/read-system-logs.ts";
import systemMetricsSnapshot from "keyhole:../tools/operations/system-metrics-snapshot.ts";

export interface OperationsOptions {
  /** Folders, absolute, from which `read_system_logs` may read files. Default `["/var/log"]`. */
  readonly logs?: readonly string[];
  /** Top folders, absolute, of the working trees that `git_status` may look at. Default: none. */
  readonly repositories?: readonly string[];
  /** Absolute paths of programs by their names. Default: those of the system's folders. */
  readonly programs?: Readonly<Record<string, string>>;
}

export interface OperationsCatalogue {
  /** For `kernel.register`. `@keyhole/worker-host/tools/operations` has the same packages with the types of their results. */
  readonly packages: readonly ToolPackage[];
  /** For `nodeHost({ commands })`: what was found, by absolute paths. */
  readonly commands: Readonly<Record<string, SpawnCommand>>;
  /** Programs that were not found, sorted. Tools that need them say what to install. */
  readonly missing: readonly string[];
  /** Posture `standard`, and a grant for each command with its arguments. Plain data: narrow it, or keep it as a file. */
  readonly policy: PolicyDocument;
}

/** Where a system keeps its programs: folders that only its administrator writes to. Nothing is looked for in `PATH`. */
const systemFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** The same words and digits in every locale; names of files and processes stay UTF-8. */
const env = { LC_ALL: "C.UTF-8", TZ: "UTC" };

/**
 * Git's own: it reads the configuration of the repository and no other, and reaches no other repository. Without a configuration of the user, a repository of another user is refused.
 */
const gitEnv = {
  ...env,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
};

const names = ["cat", "df", "git", "journalctl", "log", "nvidia-smi", "ps", "sleep", "ss", "tail"] as const;

/**
 * The tools of an operations agent, the programs that they run, and a policy to begin with.
 *
 * @throws {TypeError} when a path is not absolute
 * @example
 * const { packages, commands, policy } = await operationsCatalogue();
 * const kernel = await createFullKernel({ host: nodeHost({ commands }), policy });
 * for (const each of packages) kernel.register(each);
 */
export async function operationsCatalogue({
  logs = ["/var/log"],
  repositories = [],
  programs = {},
}: OperationsOptions = {}): Promise<OperationsCatalogue> {
  for (const path of [...logs, ...repositories, ...Object.values(programs)])
    if (!isAbsolute(path)) throw new TypeError(`The path is not absolute: ${path}.`);
  const given = new Map(Object.entries(programs));
  const found = await Promise.all(
    names.map(async (name) => [name, given.get(name) ?? (await findProgram(name))] as const),
  );
  const commands = found.flatMap(([name, path]) =>
    path === undefined ? [] : [[name, { path, env: name === "git" ? gitEnv : env }] as const],
  );
  return {
    packages: [checkProcessHealth, gitStatus, readSystemLogs, systemMetricsSnapshot],
    commands: Object.fromEntries(commands),
    missing: found.flatMap(([name, path]) => (path === undefined ? [name] : [])),
    policy: {
      version: "1",
      posture: "standard",
      grants: [
        ...grantsOf(checkProcessHealth),
        ...grantsOf(gitStatus, { "/": repositories }),
        ...grantsOf(readSystemLogs, { "/": logs.map((folder) => ({ prefix: join(folder, "/") })) }),
        ...grantsOf(systemMetricsSnapshot),
      ],
    },
  };
}

async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of systemFolders) {
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

type Spawning = Extract<Capability, { kind: "process.spawn" }>;
type ArgumentPattern = string | { readonly prefix: string };

/**
 * What a tool asks for, as grants. Where it asks for any text that begins with one of the keys, the grant has each pattern behind that key in its place.
 *
 * @param narrower by prefix
 */
function grantsOf(
  { manifest }: ToolPackage,
  narrower: Readonly<Record<string, readonly ArgumentPattern[]>> = {},
): readonly { readonly tool: string; readonly capability: Capability }[] {
  const prefixes = new Map(Object.entries(narrower));
  return manifest.capabilities.flatMap((wish) => {
    if (wish.kind !== "process.spawn") return [];
    const { commands } = wish as Spawning;
    const narrowed = commands.flatMap(({ command, args = [] }) => {
      const at = args.findIndex((each) => typeof each === "object" && "prefix" in each && prefixes.has(each.prefix));
      const pattern = args[at];
      if (typeof pattern !== "object" || !("prefix" in pattern)) return [{ command, args }];
      return (prefixes.get(pattern.prefix) ?? []).map((each) => ({ command, args: args.with(at, each) }));
    });
    return narrowed.length === 0
      ? []
      : [{ tool: manifest.name, capability: { kind: "process.spawn", commands: narrowed } }];
  });
}
