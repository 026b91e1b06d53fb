import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApprovalAnswer, type ApprovalRequest, createKernel, type Kernel } from "@keyhole/kernel";
import { nodeHost, type SpawnCommand } from "@keyhole/worker-host/node";
import { operationsCatalogue, type OperationsOptions } from "@keyhole/worker-host/node/operations";
import { onTestFinished } from "vitest";

/** The user `nobody` of Debian. */
const nobody = 65_534;

const isRoot = process.getuid?.() === 0;

/** As whom the programs of the catalogue run. */
export const users = isRoot ? (["root", "nobody"] as const) : (["this user"] as const);
export type User = (typeof users)[number];

/** A folder that every user can read and enter, gone with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "keyhole-operations-"));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Programs that this machine lacks. */
export const { missing } = await operationsCatalogue();

/** A kernel with the catalogue's tools, its own policy, and a person who says yes. */
export async function operationsKernel(
  user: User,
  options: OperationsOptions = {},
  without: readonly string[] = [],
  person: (question: ApprovalRequest) => ApprovalAnswer = () => ({ answer: "allow", scope: "once", approver: "test" }),
): Promise<Kernel> {
  const { packages, commands, policy } = await operationsCatalogue(options);
  const offered = Object.fromEntries(Object.entries(commands).filter(([name]) => !without.includes(name)));
  const kernel = await createKernel({
    host: nodeHost({ commands: user === "nobody" ? asNobody(offered) : offered }),
    policy,
    approver: async (question) => person(question),
  });
  onTestFinished(() => kernel.close());
  for (const each of packages) {
    const registered = kernel.register(each);
    if (!registered.ok) throw new Error(registered.error.message);
  }
  return kernel;
}

/** The same programs, each behind a script that gives up all rights first. */
function asNobody(commands: Readonly<Record<string, SpawnCommand>>): Record<string, SpawnCommand> {
  const folder = join(temporaryFolder(), "bin");
  mkdirSync(folder);
  return Object.fromEntries(
    Object.entries(commands).map(([name, { path, ...rest }]) => {
      const script = join(folder, name);
      const drop = `/usr/bin/setpriv --reuid=${nobody} --regid=${nobody} --clear-groups`;
      writeFileSync(script, `#!/bin/sh\nexec ${drop} '${path}' "$@"\n`, { mode: 0o755 });
      return [name, { ...rest, path: script }];
    }),
  );
}
