import { exitCodes } from "../../../packages/keyhole/src/command/io.ts";
import { refusals } from "../../../packages/bus/src/wire/refusal.ts";
import { codeOfRefusal } from "../../../packages/kernel/src/capability/gate/refusals.ts";
import { markdownTable } from "../generated-parts.ts";
import { literalsOf, membersOf } from "./docstrings.ts";

/** Tables whose sentences are docstrings of the packages. */
export const docstringTables = {
  edgeCodes: (): string => causes("`code`", "worker-host/src/edge/fault", "EdgeCode"),
  kernelFaults: (): string => causes("`reason`", "worker-host/src/browser/kernel-start", "KernelFault"),
  snapshotReasons: (): string => causes("`reason`", "kernel/src/call/suspension/resume", "SnapshotReason"),
  meterCodes: (): string => causes("Code", "worker-host/src/wasm/meter/refusal", "meterCodes"),
  foreignTools: (): string => causes("State", "kernel/src/foreign-tools/foreign-tool", "ForeignToolState", "Meaning"),
  errorFields(): string {
    const fields = ["CallError", "Hints"].flatMap((name) => membersOf("packages/kernel/src/result.ts", name));
    return markdownTable(
      ["Field", "Content"],
      fields.map(({ name, text }) => [code(name), text]),
    );
  },
  busRefusals: (): string =>
    markdownTable(
      ["Code", "Why"],
      Object.entries(refusals).map(([name, text]) => [code(name), text]),
    ),
  httpTemplate: (): string => members("Part", "kernel/src/tool/http-template", "HttpTemplate"),
  configuration: (): string => members("Section", "worker-host/src/config/read", "ConfigDocument"),
  refusals(): string {
    const rows = literalsOf("packages/kernel/src/capability/request.ts", "RefusalCode").map(
      ([value, text]) => [code(value), text, code(ends.get(value) ?? "")] as const,
    );
    return markdownTable(["`code` inside the tool", "Cause", "Unhandled, the call ends as"], rows);
  },
  verdicts(): string {
    const rows = literalsOf("packages/kernel/src/audit/vouched.ts", "EvidenceVerdict").map(
      ([value, text]) => [code(value), String(exits.get(value)), text] as const,
    );
    return markdownTable(["Verdict", "Exit code", "Means"], rows);
  },
};

const ends = new Map<string, string>(Object.entries(codeOfRefusal));
const exits = new Map<string, number>(Object.entries(exitCodes));
const code = (text: string): string => `\`${text}\``;

function causes(title: string, path: string, type: string, meaning = "Cause"): string {
  const rows = literalsOf(`packages/${path}.ts`, type).map(([value, text]) => [code(value), text]);
  return markdownTable([title, meaning], rows);
}

function members(title: string, path: string, type: string): string {
  const rows = membersOf(`packages/${path}.ts`, type).filter(({ text }) => text !== "");
  return markdownTable(
    [title, "Holds"],
    rows.map(({ name, text }) => [code(name), text]),
  );
}
