import { knownOptions } from "@keyhole/kernel/foreign";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Capability, PolicyDocument, ToolPackage } from "@keyhole/kernel";
import type { SpawnCommand } from "./spawn.ts";
import checkProcessHealth from "keyhole:../tools/operations/check-process-health.ts";
import gitStatus from "keyhole:../tools/operations/git-status.ts";
import readSystemLogs from "keyhole:../tools/operations/read-system-logs.ts";
import runLinter from "keyhole:../tools/operations/run-linter.ts";
import runTests from "keyhole:../tools/operations/run-tests.ts";
import systemMetricsSnapshot from "keyhole:../tools/operations/system-metrics-snapshot.ts";

export interface OperationsOptions {
  /** Folders, absolute, from which `read_system_logs` may read files. Default `["/var/log"]`. */
  readonly logs?: readonly string[];
  /** Top folders, absolute, of the working trees that `git_status` may look at. Default: none. */
  readonly repositories?: readonly string[];
  /**
   * The folder, absolute, of the project for `run_tests` and `run_linter`: with pytest, ruff and mypy of the system, vitest, oxlint and eslint of the project, this Node,
   * and `programs.tap`, which writes TAP. Default: none, and then these tools have no grant.
   */
  readonly project?: string;
  /** Absolute paths of programs by their names. Default: those of the system's folders. */
  readonly programs?: Readonly<Record<string, string>>;
}

export interface OperationsCatalogue {
  /** For `kernel.register`. `@keyhole/worker-host/tools/operations` has the same packages with the types of their results. */
  readonly packages: readonly ToolPackage[];
  /** For `nodeHost({ commands })`: the found programs, by absolute paths. */
  readonly commands: Readonly<Record<string, SpawnCommand>>;
  /** The missing programs, sorted. Tools that need them say what to install. */
  readonly missing: readonly string[];
  /** Posture `standard`, a grant for each command with its arguments, and LOCKDOWN's question about observers. Plain data: narrow it, or keep it as a file. */
  readonly policy: PolicyDocument;
}

/** Where a system keeps its programs: folders that only its administrator writes to. The host does not search `PATH`. */
const systemFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** The same words and digits in every locale; names of files and processes stay UTF-8. */
const env = { LC_ALL: "C.UTF-8", TZ: "UTC" };

/**
 * Git's own: it reads the configuration of the repository and no other, and reaches no other repository. Without a configuration of the user, git refuses a repository of another user.
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

/** They only read the machine. In LOCKDOWN the kernel asks a person about each of their calls. */
const observers: readonly ToolPackage[] = [checkProcessHealth, gitStatus, readSystemLogs, systemMetricsSnapshot];

/**
 * The tools of an operations agent, the programs that they run, and a policy to begin with.
 *
 * @throws {TypeError} when a path is not absolute
 * @example
 * const { packages, commands, policy } = await operationsCatalogue();
 * const kernel = await createKernel({ host: nodeHost({ commands }), policy });
 * for (const each of packages) kernel.register(each);
 */
export async function operationsCatalogue(options: OperationsOptions = {}): Promise<OperationsCatalogue> {
  const {
    logs = ["/var/log"],
    repositories = [],
    project,
    programs = {},
  } = knownOptions(options, { logs: true, repositories: true, project: true, programs: true }, "operationsCatalogue");
  for (const path of [
    ...logs,
    ...repositories,
    ...(project === undefined ? [] : [project]),
    ...Object.values(programs),
  ])
    if (!isAbsolute(path)) throw new TypeError(`The path is not absolute: ${path}.`);
  const given = new Map(Object.entries(programs));
  const found = await Promise.all(
    names.map(async (name) => [name, given.get(name) ?? (await findProgram(name))] as const),
  );
  const commands = found.flatMap(([name, path]) =>
    path === undefined ? [] : [[name, { path, env: name === "git" ? gitEnv : env }] as const],
  );
  return {
    packages: [checkProcessHealth, gitStatus, readSystemLogs, runLinter, runTests, systemMetricsSnapshot],
    commands: { ...Object.fromEntries(commands), ...(project !== undefined && (await runnersOf(project, given))) },
    missing: found.flatMap(([name, path]) => (path === undefined && isOfThisSystem(name) ? [name] : [])),
    policy: {
      version: "1",
      posture: "standard",
      grants: [
        ...grantsOf(checkProcessHealth),
        ...grantsOf(gitStatus, { "/": repositories }),
        ...grantsOf(readSystemLogs, { "/": logs.map((folder) => ({ prefix: join(folder, "/") })) }),
        ...(project === undefined ? [] : [...grantsOf(runLinter), ...grantsOf(runTests)]),
        ...grantsOf(systemMetricsSnapshot),
      ],
      tools: Object.fromEntries(observers.map(({ manifest }) => [manifest.name, { modes: { lockdown: "ask" } }])),
    },
  };
}

/**
 * Gives a program a pipe as its stdout, and ends as the program does. Node gives children sockets, and nothing can open `/dev/stdout` of a socket.
 */
const piped = `exec 3>&1; exit "$({ { "$0" "$@" 3>&- 4>&-; echo $? >&4; } | cat >&3; } 4>&1)"`;

/** Programs that run tests and linters in the folder of a project. Its own programs have the same rights as its tests. */
async function runnersOf(
  project: string,
  given: ReadonlyMap<string, string>,
): Promise<Readonly<Record<string, SpawnCommand>>> {
  const place = { cwd: project, env: { ...env, PATH: systemFolders.join(":"), NO_COLOR: "1" } };
  const ofSystem = async (name: string): Promise<string | undefined> => given.get(name) ?? (await findProgram(name));
  const ofProject = async (script: string): Promise<string | undefined> => {
    const path = join(project, "node_modules", script);
    return (await isAllowed(path, constants.R_OK)) ? path : undefined;
  };
  const [pytest, ruff, mypy] = await Promise.all(["pytest", "ruff", "mypy"].map(ofSystem));
  const scripts = ["vitest/vitest.mjs", "oxlint/bin/oxlint", "eslint/bin/eslint.js"];
  const [vitest, oxlint, eslint] = await Promise.all(scripts.map(ofProject));
  const tap = given.get("tap");
  const behindPipe = (...program: readonly string[]): SpawnCommand => ({
    ...place,
    path: "/bin/sh",
    args: ["-c", piped, ...program],
  });
  return {
    node: { ...place, path: process.execPath },
    ...(pytest !== undefined && { pytest: behindPipe(pytest) }),
    ...(vitest !== undefined && { vitest: behindPipe(process.execPath, vitest) }),
    ...(ruff !== undefined && { ruff: { ...place, path: ruff } }),
    ...(mypy !== undefined && { mypy: { ...place, path: mypy } }),
    ...(oxlint !== undefined && { oxlint: { ...place, path: process.execPath, args: [oxlint] } }),
    ...(eslint !== undefined && { eslint: { ...place, path: process.execPath, args: [eslint] } }),
    ...(tap !== undefined && { tap: { ...place, path: tap } }),
  };
}

/** `log` reads the unified log of macOS, and the others do not exist there. */
function isOfThisSystem(name: (typeof names)[number]): boolean {
  const ofMac = process.platform === "darwin";
  return ofMac ? name !== "journalctl" && name !== "ss" : name !== "log";
}

async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of systemFolders) {
    const path = join(folder, name);
    if (await isAllowed(path, constants.X_OK)) return path;
  }
  return undefined;
}

function isAllowed(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

type Spawning = Extract<Capability, { kind: "process.spawn" }>;
type ArgumentPattern = string | { readonly prefix: string };

/**
 * The declaration of a tool, as grants. A declared prefix that is one of the keys becomes the
 * patterns behind that key.
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
