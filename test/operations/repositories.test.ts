import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallResult } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { missing, operationsKernel, temporaryFolder, type User, users } from "./on-machine.ts";

/** Git as a person would run it, without the configuration of this machine. */
function git(folder: string, ...args: readonly string[]): void {
  const env = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", PATH: "/usr/bin:/bin" };
  const person = ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always"];
  execFileSync("/usr/bin/git", ["-C", folder, ...person, ...args], { env, stdio: "ignore" });
}

/** A repository with one commit on the branch `main`. It lies in a folder of its own. */
function repository(name = "repository"): string {
  const folder = join(temporaryFolder(), name);
  mkdirSync(folder);
  git(folder, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(folder, "a.txt"), "a\n");
  git(folder, "add", ".");
  git(folder, "commit", "--quiet", "--message=first");
  return folder;
}

function give(folder: string, user: User): void {
  if (user === "nobody") execFileSync("/bin/chown", ["-R", "nobody", folder]);
}

async function statusAs(user: User, folder: string): Promise<CallResult> {
  const kernel = await operationsKernel(user, { repositories: [folder] });
  return kernel.call("git_status", { path: folder });
}

/** The file changed its time, so that Git has to look at what is in it. */
const touch = (file: string): void => utimesSync(file, 1, 1);

describe.skipIf(missing.includes("git")).each(users)("git_status as %s", (user) => {
  it("says branch and changes", async () => {
    const folder = repository();
    writeFileSync(join(folder, "a.txt"), "b\n");
    writeFileSync(join(folder, "new"), "");
    give(folder, user);
    expect(await statusAs(user, folder)).toMatchObject({
      ok: true,
      data: {
        branch: { name: "main", commit: expect.stringMatching(/^[0-9a-f]{40}$/), upstream: null },
        isClean: false,
        changed: 2,
        changes: [
          { path: "a.txt", staged: "unchanged", unstaged: "modified" },
          { path: "new", staged: "untracked", unstaged: "untracked" },
        ],
      },
    });
  });

  it("shows hostile names of branches and files in one line", async () => {
    const folder = repository("-c core.fsmonitor=x");
    git(folder, "switch", "--quiet", "--create", "\u202egnp/\u2066x");
    for (const name of ["a\nb", "\u001b[31mred", "--help", '"quoted"']) writeFileSync(join(folder, name), "");
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x78, 0xff])]), "");
    give(folder, user);
    const result = await statusAs(user, folder);
    expect(result).toMatchObject({ ok: true, data: { branch: { name: "\\u202egnp/\\u2066x" }, changed: 5 } });
    const { changes } = (result.ok ? result.data : {}) as { readonly changes: readonly { readonly path: string }[] };
    expect(new Set(changes.map(({ path }) => path))).toEqual(
      new Set(["a\\nb", "\\u001b[31mred", "--help", '"quoted"', "x\ufffd"]),
    );
  });

  it.each([
    ["a monitor of files", "core.fsmonitor"],
    ["a filter", "filter.evil.clean"],
    ["a filter that stays", "filter.evil.process"],
  ])("runs nothing that the configuration names: %s", async (_, key) => {
    const folder = repository();
    const mark = join(folder, "ran");
    git(folder, "config", key, `touch '${mark}'; cat`);
    writeFileSync(join(folder, ".git/info/attributes"), "* filter=evil\n");
    touch(join(folder, "a.txt"));
    give(folder, user);
    const result = await statusAs(user, folder);
    expect(existsSync(mark)).toBe(false);
    if (key.startsWith("filter"))
      expect(result).toMatchObject({
        ok: false,
        error: { code: "TOOL_ERROR", details: { name: "UnsafeConfiguration" }, message: expect.stringContaining(key) },
      });
    else expect(result).toMatchObject({ ok: true });
  });

  it("runs nothing that an included file names", async () => {
    const folder = repository();
    const mark = join(folder, "ran");
    writeFileSync(join(folder, "more"), `[filter "evil"]\n\tclean = touch '${mark}'\n`);
    appendFileSync(join(folder, ".git/config"), `[includeIf "gitdir:**"]\n\tpath = ../more\n`);
    writeFileSync(join(folder, ".gitattributes"), "* filter=evil\n");
    touch(join(folder, "a.txt"));
    give(folder, user);
    expect(await statusAs(user, folder)).toMatchObject({
      ok: false,
      error: { details: { name: "UnsafeConfiguration" } },
    });
    expect(existsSync(mark)).toBe(false);
  });

  it("runs no hook", async () => {
    const folder = repository();
    const mark = join(folder, "ran");
    for (const name of ["post-index-change", "fsmonitor-watchman", "post-checkout"]) {
      writeFileSync(join(folder, ".git/hooks", name), `#!/bin/sh\ntouch '${mark}'\n`);
      chmodSync(join(folder, ".git/hooks", name), 0o755);
    }
    touch(join(folder, "a.txt"));
    give(folder, user);
    expect(await statusAs(user, folder)).toMatchObject({ ok: true, data: { isClean: true } });
    expect(existsSync(mark)).toBe(false);
  });

  it("looks into no submodule", async () => {
    const inner = repository("inner");
    const folder = repository();
    const mark = join(folder, "ran");
    git(folder, "submodule", "--quiet", "add", inner, "inner");
    git(folder, "commit", "--quiet", "--message=submodule");
    git(join(folder, "inner"), "config", "filter.evil.clean", `touch '${mark}'; cat`);
    writeFileSync(join(folder, "inner/.gitattributes"), "* filter=evil\n");
    touch(join(folder, "inner/a.txt"));
    give(folder, user);
    expect(await statusAs(user, folder)).toMatchObject({ ok: true, data: { isClean: true } });
    expect(existsSync(mark)).toBe(false);
  });

  it("fetches nothing that is missing", async () => {
    const folder = repository();
    const mark = join(folder, "ran");
    git(folder, "config", "remote.origin.url", `ext::sh -c "touch ${mark}"`);
    git(folder, "config", "protocol.ext.allow", "always");
    git(folder, "config", "remote.origin.promisor", "true");
    give(folder, user);
    expect(await statusAs(user, folder)).toMatchObject({
      ok: false,
      error: { details: { name: "UnsafeConfiguration" } },
    });
    expect(existsSync(mark)).toBe(false);
  });

  it.each([
    ["a folder within", (folder: string) => join(folder, "sub")],
    ["the folder of the repository itself", (folder: string) => join(folder, ".git")],
  ])("takes the top folder of a working tree alone, not %s", async (_, place) => {
    const folder = repository();
    mkdirSync(join(folder, "sub"));
    give(folder, user);
    expect(await statusAs(user, place(folder))).toMatchObject({
      ok: false,
      error: { details: { name: "NotATopFolder" } },
    });
  });

  it("does not look at another folder that the configuration names", async () => {
    const folder = repository();
    git(folder, "config", "core.worktree", "/etc");
    give(folder, user);
    expect(await statusAs(user, folder)).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
  });

  it("says that a folder is no repository", async () => {
    const folder = temporaryFolder();
    symlinkSync("loop", join(folder, ".git"));
    expect(await statusAs(user, folder)).toMatchObject({
      ok: false,
      error: { code: "TOOL_ERROR", details: { name: "ProgramFailed" } },
    });
  });

  it("refuses a repository that the policy does not name", async () => {
    const folder = repository();
    const kernel = await operationsKernel(user, { repositories: [folder] });
    for (const path of [`${folder}/../other`, `${folder}x`, "/etc"])
      expect(await kernel.call("git_status", { path })).toMatchObject({
        ok: false,
        error: { code: "CAPABILITY_DENIED" },
      });
  });
});

it.skipIf(missing.includes("git") || users.length < 2)("refuses a repository of another user", async () => {
  const folder = repository();
  give(folder, "nobody");
  expect(await statusAs("root", folder)).toMatchObject({
    ok: false,
    error: { code: "TOOL_ERROR", message: expect.stringContaining("dubious ownership") },
  });
});
