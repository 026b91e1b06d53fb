import { isJsonObject, readVersionedId, policy, modes, type Policy, type ToolManifest } from "@keyhole/kernel";
import { lines } from "@keyhole/kernel/audit";
import { readInstant, type RecordedCall, simulate, simulationTable } from "@keyhole/kernel/policy";
import { inspect, readRun, RUN_LINE_BYTES } from "@keyhole/kernel/replay";
import { type CommandIo, type CommandOptions, type CommandResult, readText, Unusable, visible } from "../io.ts";
import { parse } from "../json-file.ts";
import { defaultFolder, openTools } from "../tools/find-tool.ts";
import { faultLine, idOf } from "../tools/load-tools.ts";
import { readFileKind } from "../verify/file-kind.ts";
import { readPolicy } from "./read-policy.ts";

type CallOfTool = Omit<RecordedCall, "manifest"> & { readonly tool: string };

/** Reports the decisions of a policy about recorded calls. */
export async function simulatePolicy(
  file: string,
  callsFile: string,
  { tools, json, caller }: CommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const loaded = policy(await readPolicy(file, io.files));
  if (!loaded.ok) throw new Unusable(loaded.error.message);
  const calls = await readCalls(callsFile, io);
  const opened = await openTools([typeof tools === "string" ? tools : defaultFolder], io);
  for (const fault of opened.faults) io.note(`${faultLine(fault)}\n`);
  const manifests = new Map<string, ToolManifest>();
  for (const { package: pkg } of opened.tools) {
    manifests.set(pkg.manifest.name, pkg.manifest);
    manifests.set(idOf(pkg), pkg.manifest);
  }
  const recorded = calls.map(({ tool, ...call }) => {
    const manifest = manifests.get(tool) ?? manifests.get(readVersionedId(tool).name);
    if (manifest === undefined)
      throw new Unusable(visible(`The tool ${tool} is not among the tools. Name them: --tools PATH.`));
    return { ...(typeof caller === "string" && { caller }), ...call, manifest };
  });
  if (namesCallers(loaded.value) && recorded.some((call) => call.caller === undefined))
    io.note("Calls without a caller count for anonymous. Name their caller: --caller NAME.\n");
  const rows = simulate(loaded.value, recorded);
  const changed = rows.filter(({ before, after }) => before !== null && before !== after).length;
  const exitCode = changed > 0 ? 1 : 0;
  if (json === true) return { exitCode, output: `${JSON.stringify({ changed, calls: rows }, undefined, 2)}\n` };
  const table = simulationTable(rows).split("\n").map(visible).join("\n");
  return { exitCode, output: `${table}\n${changed} of ${rows.length} decisions changed\n` };
}

function namesCallers({ document: { grants = [], rules = [] } }: Policy): boolean {
  return grants.some(({ caller }) => caller !== undefined) || rules.some(({ when }) => when.caller !== undefined);
}

async function readCalls(file: string, io: CommandIo): Promise<readonly CallOfTool[]> {
  const kind = await readFileKind(file, io.files);
  if (kind.kind === "log")
    throw new Unusable(
      `${visible(file)} is an audit log, which holds digests of arguments. Give a recorded run or a list of calls.`,
    );
  if (kind.kind === "run") {
    const read = await readRun(lines(io.files.chunks(file), RUN_LINE_BYTES));
    if (!read.ok) throw new Unusable(visible(`${file}:${read.line} ${read.reason}`));
    // A further attempt is no further call.
    const calls = inspect(read.run).filter(({ attempt }) => attempt === 1);
    return calls.map(({ tool, input, startedAt, sessionId }) => {
      return { tool, input, time: startedAt, sessionId, decision: "allow" };
    });
  }
  const document = parse(await readText(file, io.files), file);
  if (!Array.isArray(document))
    throw new Unusable(`${visible(file)} is not a list of calls: [{ "tool", "input", "time" }].`);
  return document.map((call: unknown, index) => {
    if (
      !isJsonObject(call) ||
      typeof call["tool"] !== "string" ||
      typeof call["time"] !== "string" ||
      readInstant(call["time"]) === undefined
    )
      throw new Unusable(`Call ${index + 1} of ${visible(file)} lacks a tool or a time of the calendar.`);
    const { caller, sessionId, mode, decision, input = {} } = call;
    const given = modes.find((each) => each === mode);
    return {
      tool: call["tool"],
      time: call["time"],
      input,
      ...(typeof caller === "string" && { caller }),
      ...(typeof sessionId === "string" && { sessionId }),
      ...(given && { mode: given }),
      ...((decision === "allow" || decision === "ask" || decision === "deny") && { decision }),
    };
  });
}
