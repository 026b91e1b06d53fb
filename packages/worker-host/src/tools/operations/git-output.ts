import { lineOf } from "./clean.ts";
import { unreadable } from "./program.ts";

/** Keys of a configuration whose values never make `git status` run a program. They stand without the names of subsections; `*` is each key of a section. */
const harmless = new Set(
  (
    "advice.* alias.* author.* blame.* branch.* checkout.* clone.* color.* column.* commit.* committer.* credential.* diff.* fetch.* format.* gc.* gui.* help.* http.* i18n.* include.* " +
    "includeif.* index.* init.* lfs.* log.* maintenance.* merge.* mergetool.* notes.* pack.* protocol.* pull.* push.* rebase.* receive.* rerere.* safe.* sequence.* stash.* status.* " +
    "submodule.* svn-remote.* tag.* transfer.* url.* user.* versionsort.* core.abbrev core.attributesfile core.autocrlf core.bare core.bigfilethreshold core.checkstat core.commentchar " +
    "core.compression core.eol core.excludesfile core.filemode core.fscache core.fsmonitor core.hookspath core.ignorecase core.ignorestat core.logallrefupdates core.longpaths " +
    "core.multipackindex core.packedgitlimit core.precomposeunicode core.preloadindex core.protecthfs core.protectntfs core.quotepath core.repositoryformatversion core.safecrlf " +
    "core.sharedrepository core.sparsecheckout core.sparsecheckoutcone core.splitindex core.symlinks core.trustctime core.untrackedcache core.whitespace core.worktree " +
    "extensions.objectformat extensions.refstorage extensions.worktreeconfig remote.fetch remote.gh-resolved remote.mirror remote.prune remote.prunetags remote.push remote.pushurl " +
    "remote.tagopt remote.url"
  ).split(" "),
);

/**
 * Keys of a repository's configuration that can make `git status` run a program, or that nobody knows: a filter runs for each changed file, a promisor fetches what is
 * missing, a later Git has more. `core.fsmonitor` and `core.hooksPath` are harmless, because the command line replaces them.
 *
 * @param names the output of `git config --list --null --name-only`
 */
export function riskyKeys(names: string): readonly string[] {
  return names.split("\0").filter((name) => name !== "" && !isHarmless(name));
}

function isHarmless(name: string): boolean {
  const section = name.slice(0, name.indexOf("."));
  return harmless.has(`${section}.*`) || harmless.has(section + name.slice(name.lastIndexOf(".")));
}

export interface Branch {
  /** `null` where the head is detached. */
  readonly name: string | null;
  /** `null` before the first commit. */
  readonly commit: string | null;
  readonly upstream: string | null;
  readonly ahead: number | null;
  readonly behind: number | null;
}

/** The state of a file, by the letters of git-status(1). */
const states = new Map([
  [".", "unchanged"],
  ["M", "modified"],
  ["T", "type-changed"],
  ["A", "added"],
  ["D", "deleted"],
  ["R", "renamed"],
  ["C", "copied"],
  ["U", "unmerged"],
] as const);

export const changeStates = [
  "unchanged",
  "modified",
  "type-changed",
  "added",
  "deleted",
  "renamed",
  "copied",
  "unmerged",
  "untracked",
] as const;
export type ChangeState = (typeof changeStates)[number];

export interface Change {
  readonly path: string;
  /** The earlier path of a file that was renamed or copied; else `null`. */
  readonly from: string | null;
  /** In the index, against the last commit. */
  readonly staged: ChangeState;
  /** In the working tree, against the index. */
  readonly unstaged: ChangeState;
}

export interface Status {
  readonly branch: Branch;
  readonly changes: readonly Change[];
}

/** Reads `git status --porcelain=v2 --branch -z`. Paths come as they are, ended by NUL: no path can write an entry of its own. */
export function statusOf(output: string): Status {
  const headers = new Map<string, string>();
  const changes: Change[] = [];
  const entries = output.split("\0").values();
  for (const entry of entries) {
    const [kind = "", ...rest] = entry.split(" ");
    if (kind === "#") headers.set(rest[0] ?? "", rest.slice(1).join(" "));
    else if (kind === "?") changes.push(changeOf("??", rest.join(" ")));
    else if (kind === "1") changes.push(changeOf(rest[0], rest.slice(7).join(" ")));
    else if (kind === "u") changes.push(changeOf("UU", rest.slice(9).join(" ")));
    else if (kind === "2") changes.push(changeOf(rest[0], rest.slice(8).join(" "), entries.next().value));
    else if (entry !== "") throw unreadable("git", `an entry begins with ${lineOf(kind, 20)}`);
  }
  return { branch: branchOf(headers), changes };
}

function changeOf(letters: string | undefined, path: string, from?: string): Change {
  const [staged = "", unstaged = ""] = letters ?? "";
  return {
    path: lineOf(path),
    from: from === undefined ? null : lineOf(from),
    staged: stateOf(staged),
    unstaged: stateOf(unstaged),
  };
}

function stateOf(letter: string): ChangeState {
  if (letter === "?") return "untracked";
  const state = [...states].find(([each]) => each === letter)?.[1];
  if (state === undefined) throw unreadable("git", `a change has the letter ${lineOf(letter, 20)}`);
  return state;
}

function branchOf(headers: ReadonlyMap<string, string>): Branch {
  const head = headers.get("branch.head");
  const commit = headers.get("branch.oid");
  if (head === undefined || commit === undefined) throw unreadable("git", "it names no branch");
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(headers.get("branch.ab") ?? "") ?? [];
  const upstream = headers.get("branch.upstream");
  return {
    name: head === "(detached)" ? null : lineOf(head),
    commit: /^[0-9a-f]{40,64}$/.test(commit) ? commit : null,
    upstream: upstream === undefined ? null : lineOf(upstream),
    ahead: ahead === undefined ? null : Number(ahead),
    behind: behind === undefined ? null : Number(behind),
  };
}
