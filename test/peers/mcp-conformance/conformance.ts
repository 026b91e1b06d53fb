import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const command = fileURLToPath(new URL("node_modules/.bin/conformance", import.meta.url));
const patience = new URL("patience.mjs", import.meta.url).href;

export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** One scenario with its checks, as the suite wrote them. */
export interface Scenario {
  readonly name: string;
  readonly failed: readonly Check[];
  readonly passed: number;
}

/** Runs the suite. It ends with another code than 0 where a check fails: its files say which. */
export async function conformance(
  args: readonly string[],
): Promise<{ readonly output: string; readonly scenarios: readonly Scenario[] }> {
  const folder = await mkdtemp(join(tmpdir(), "keyhole-conformance-"));
  try {
    // As a client the suite gives an answer half a second. As a server it measures pauses, which stay as they are.
    const patient = args[0] === "server" ? [`--import=${patience}`] : [];
    const words = [...patient, command, ...args, "--timeout", "240000", "-o", folder];
    const run = promisify(execFile)(process.execPath, words, { maxBuffer: 1 << 26 });
    const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
    return { output: `${stdout}${stderr}`, scenarios: await scenariosIn(folder) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function scenariosIn(folder: string): Promise<readonly Scenario[]> {
  const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith("checks.json")).toSorted();
  return Promise.all(
    files.map(async (path) => {
      const checks = JSON.parse(await readFile(join(folder, path), "utf8")) as readonly Check[];
      return {
        name: path.replace(/^(?:server|client)-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, ""),
        failed: checks.filter(({ status }) => status === "FAILURE"),
        passed: checks.filter(({ status }) => status === "SUCCESS").length,
      };
    }),
  );
}
