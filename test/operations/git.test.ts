import { describe, expect, it } from "vitest";
import { riskyKeys, statusOf } from "../../packages/worker-host/src/tools/operations/git-output.ts";

const head = (...more: readonly string[]): string =>
  [`# branch.oid ${"a".repeat(40)}`, "# branch.head main", ...more].join("\0");

describe("git status", () => {
  it("is read entry by entry", () => {
    const hashes = `N... 100644 100644 100644 ${"0".repeat(40)} ${"1".repeat(40)}`;
    const output = head(
      "# branch.upstream origin/main",
      "# branch.ab +2 -3",
      `1 .M ${hashes} a b.txt`,
      `2 R. ${hashes} R100 new name`,
      "old name",
      `u UU N... 100644 100644 100644 100644 ${"1 ".repeat(3)}both`,
      "? -untracked",
      "",
    );
    expect(statusOf(output)).toEqual({
      branch: { name: "main", commit: "a".repeat(40), upstream: "origin/main", ahead: 2, behind: 3 },
      changes: [
        { path: "a b.txt", from: null, staged: "unchanged", unstaged: "modified" },
        { path: "new name", from: "old name", staged: "renamed", unstaged: "unchanged" },
        { path: "both", from: null, staged: "unmerged", unstaged: "unmerged" },
        { path: "-untracked", from: null, staged: "untracked", unstaged: "untracked" },
      ],
    });
  });

  it("has no branch where the head is detached, and no commit before the first", () => {
    expect(statusOf("# branch.oid (initial)\0# branch.head (detached)\0").branch).toEqual({
      name: null,
      commit: null,
      upstream: null,
      ahead: null,
      behind: null,
    });
  });

  it("takes no path for an entry", () => {
    const path = "a\n? forged\n1 .M N... \u001b[31m\u202e";
    expect(statusOf(head(`? ${path}`)).changes).toEqual([
      { path: "a\\n? forged\\n1 .M N... \\u001b[31m\\u202e", from: null, staged: "untracked", unstaged: "untracked" },
    ]);
  });

  it.each([["x y"], ["1 XX a b c d e f g"], ["fatal: no"]])("names what it cannot read: %s", (entry) => {
    expect(() => statusOf(head(entry))).toThrow("The output of git is not as expected");
    expect(() => statusOf("")).toThrow("it names no branch");
  });
});

describe("a configuration", () => {
  const risky = [
    "filter.evil.clean",
    "filter.a.b.process",
    "extensions.partialclone",
    "remote.origin.promisor",
    "remote.origin.partialclonefilter",
    "remote.origin.uploadpack",
    "remote.url.vcs",
    "core.sshcommand",
    "core.gitproxy",
    "core.alternaterefscommand",
    "hook.evil.command",
    "new.key",
    "corefilemode",
  ];
  const harmless = [
    "core.filemode",
    "core.bare",
    "core.fsmonitor",
    "user.email",
    "remote.origin.url",
    "remote.a.promisor.url",
    "branch.main.merge",
    "includeif.gitdir:/x.path",
    "extensions.objectformat",
  ];
  it.each(risky)("with %s can run a program, or nobody knows it", (key) =>
    expect(riskyKeys(`${key}\0`)).toEqual([key]),
  );
  it("of the usual keys runs nothing", () => expect(riskyKeys(harmless.join("\0"))).toEqual([]));
});
