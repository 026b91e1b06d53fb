import { defineTool, type ToolContext } from "@keyhole/kernel/tool";
import { lineOf } from "./clean.ts";
import { changeStates, riskyKeys, statusOf } from "./git-output.ts";
import { named, successOf } from "./program.ts";

const placeArgs = ["rev-parse", "--is-inside-work-tree", "--show-prefix"] as const;
const configArgs = ["config", "--list", "--null", "--name-only", "--includes"] as const;
/** Nothing of the repository's choice runs: no monitor of files, no hook, no program of a submodule's configuration. */
const safeArgs = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"] as const;
const statusArgs = [
  "status",
  "--porcelain=v2",
  "--branch",
  "-z",
  "--untracked-files=normal",
  "--ignore-submodules=all",
] as const;
/** Changes of one answer. */
const maxChanges = 1_000;

const anyPath = { prefix: "/" } as const;
const text = { type: ["string", "null"] } as const;
const count = { type: ["integer", "null"], minimum: 0 } as const;

export default defineTool({
  name: "git_status",
  version: "1.0.0",
  title: "Status of a Git repository",
  description:
    "Says which branch of a repository is checked out, how far it is from its upstream, and which files changed. `path` is the absolute path of the top folder of the " +
    "working tree. Changes within submodules are left out. Nothing is fetched or written.",
  category: "operations",
  effects: ["process.spawn"],
  determinism: "external",
  tier: 1,
  risk: "low",
  idempotent: true,
  capabilities: [
    {
      kind: "process.spawn",
      commands: [
        { command: "git", args: ["-C", anyPath, ...placeArgs] },
        { command: "git", args: ["-C", anyPath, ...configArgs] },
        { command: "git", args: [...safeArgs, "-C", anyPath, ...statusArgs] },
      ],
    },
  ],
  bounds: { timeoutMs: 60_000, concurrency: 2, outputBytes: 16 << 20 },
  input: {
    type: "object",
    properties: {
      path: { type: "string", pattern: "^/[^\\u0000-\\u001f\\u007f]*$", maxLength: 1_024 },
    },
    required: ["path"],
    additionalProperties: false,
    examples: [{ path: "/srv/app" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        branch: {
          type: "object",
          properties: {
            name: { ...text, description: "null where the head is detached." },
            commit: { ...text, description: "null before the first commit." },
            upstream: text,
            ahead: count,
            behind: count,
          },
          required: ["name", "commit", "upstream", "ahead", "behind"],
          additionalProperties: false,
        },
        isClean: { type: "boolean" },
        changed: { type: "integer", minimum: 0, description: "All changes; `changes` lists the first 1,000." },
        changes: {
          type: "array",
          items: {
            type: "object",
            properties: {
              path: { type: "string", description: "Control characters are escapes." },
              from: { ...text, description: "The earlier path of a file that was renamed or copied." },
              staged: { enum: changeStates },
              unstaged: { enum: changeStates },
            },
            required: ["path", "from", "staged", "unstaged"],
            additionalProperties: false,
          },
        },
      },
      required: ["branch", "isClean", "changed", "changes"],
      additionalProperties: false,
    },
  },
  async execute({ path }, { spawn }) {
    await refuseUnsafe(spawn, path);
    const { branch, changes } = statusOf(await successOf(spawn, "git", [...safeArgs, "-C", path, ...statusArgs]));
    return {
      branch,
      isClean: changes.length === 0,
      changed: changes.length,
      changes: changes.slice(0, maxChanges),
    };
  },
});

/** Before anything reads files: reading names of keys runs nothing. */
async function refuseUnsafe(spawn: ToolContext["spawn"], path: string): Promise<void> {
  const place = await successOf(spawn, "git", ["-C", path, ...placeArgs]);
  if (place !== "true\n\n") throw named("NotATopFolder", `${lineOf(path)} is not the top folder of a working tree.`);
  const risky = riskyKeys(await successOf(spawn, "git", ["-C", path, ...configArgs]));
  if (risky.length === 0) return;
  const keys = risky.slice(0, 5).map((key) => lineOf(key, 100));
  throw named(
    "UnsafeConfiguration",
    `The configuration of ${lineOf(path)} can make git run a program, or has keys that this tool does not know: ${keys.join(", ")}. The tool did not read it.`,
  );
}
