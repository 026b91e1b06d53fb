import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packTool } from "../node/packer.ts";
import { chooseConfig } from "./config.ts";
import type { Finding } from "./finding.ts";
import { type CommandIo, type CommandOptions, type CommandResult, marks, Unusable, visible } from "./io.ts";
import { optionOf } from "./options.ts";
import { pageFindings } from "./page-policy.ts";
import { choosePolicy } from "./policy/read-policy.ts";
import { removedAtExit } from "./whole-file.ts";

const wanted = { node: 24, packer: 22 };

/** A tool without an import: its failure is the machine's. */
const probe = `export default { definition: { name: "probe", version: "1.0.0", description: "Answers.", input: { type: "object" }, output: { kind: "text" } }, code: { execute: () => "here" } };\n`;

/** Says what this machine, or a page, lacks. The command makes each check, and looks up none. */
export async function doctor(options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const url = optionOf(options, "url");
  const findings = url === undefined ? await machineFindings(io) : await pageFindings(url, io.signal);
  const exitCode = findings.some(({ state }) => state === "missing") ? 1 : 0;
  if (options["json"] === true) return { exitCode, output: `${JSON.stringify({ findings }, undefined, 2)}\n` };
  const mark = { ok: marks.passed, missing: marks.failed, absent: marks.skipped } as const;
  const lines = findings.map(({ state, subject, text }) => `${mark[state]} ${visible(`${subject}: ${text}`)}\n`);
  return { exitCode, output: lines.join("") };
}

async function machineFindings(io: CommandIo): Promise<readonly Finding[]> {
  return [nodeFinding(), ...(await isolateFindings()), await policyFinding(io), ...peerFindings(io.folder)];
}

function nodeFinding(): Finding {
  const { node } = process.versions;
  if (Number.parseInt(node) >= wanted.node) return { subject: "Node", state: "ok", text: node };
  return { subject: "Node", state: "missing", text: `got ${node}; keyhole run, replay and dev need ${wanted.node}` };
}

/** Packs a tool and calls it: the packer's binary, the interpreter and its threads at once. */
async function isolateFindings(): Promise<readonly Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), "keyhole-doctor-"));
  const forget = removedAtExit(folder);
  try {
    await writeFile(join(folder, "probe.mjs"), probe);
    const { package: pkg } = await packTool(join(folder, "probe.mjs"), { root: folder });
    const packs: Finding = {
      subject: "packer",
      state: "ok",
      text: "packs a tool, and reads its manifest in an isolate",
    };
    return [packs, await callFinding(pkg)];
  } catch (error) {
    return [{ subject: "packer", state: "missing", text: reasonOf(error) }];
  } finally {
    await rm(folder, { recursive: true, force: true });
    forget();
  }
}

async function callFinding(pkg: Parameters<import("@keyhole/kernel").Kernel["register"]>[0]): Promise<Finding> {
  try {
    const [{ createKernel }, { nodeHost }] = await Promise.all([
      import("@keyhole/kernel"),
      import("@keyhole/worker-host/node"),
    ]);
    const kernel = await createKernel({ host: nodeHost(), policy: { version: "1", posture: "standard" } });
    kernel.register(pkg);
    const result = await kernel.call("probe", {});
    await kernel.close();
    if (result.ok) return { subject: "isolates", state: "ok", text: "a tool answers from an interpreter of its own" };
    return { subject: "isolates", state: "missing", text: `${result.error.code}: ${result.error.message}` };
  } catch (error) {
    return { subject: "isolates", state: "missing", text: reasonOf(error) };
  }
}

async function policyFinding(io: CommandIo): Promise<Finding> {
  try {
    const { file } = await choosePolicy(undefined, io, await chooseConfig({}, io));
    if (file !== undefined) return { subject: "policy", state: "ok", text: file };
    return { subject: "policy", state: "absent", text: "no policy.json in this folder: no tool has a grant" };
  } catch (error) {
    return { subject: "policy", state: "missing", text: error instanceof Unusable ? error.message : reasonOf(error) };
  }
}

/** Packages that a project can have beside the command. */
const peers = [
  { name: "vite", major: 8, use: "the plugin keyhole/vite" },
  { name: "wrangler", major: 4, use: "an edge on Cloudflare Workers" },
];

function peerFindings(folder: string): readonly Finding[] {
  const require = createRequire(join(folder, "package.json"));
  return peers.map(({ name, major, use }) => {
    try {
      const { version } = require(`${name}/package.json`) as { readonly version: string };
      if (Number.parseInt(version) >= major) return { subject: name, state: "ok", text: version };
      return { subject: name, state: "missing", text: `got ${version}; ${use} needs ${major} or newer` };
    } catch {
      return { subject: name, state: "absent", text: `not installed in this project; ${use} needs it` };
    }
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
