import { ceilings, defaultBounds } from "../../../packages/kernel/src/limits.ts";
import { membersOf } from "./docstrings.ts";
import { membersTable, page, tableOf } from "./markdown.ts";

const api = "packages/kernel/src/kernel-api.ts";
const callOptions = "packages/kernel/src/call/arrival/call-options.ts";
const result = "packages/kernel/src/result.ts";
const define = "packages/kernel/src/tool/define.ts";

export function kernelPage(): string {
  return page(
    "Kernel",
    "For programs that create a kernel: each option, its default and its effect.",
    `the docstrings of \`${api}\``,
    [
      "## Options of createKernel",
      "",
      ...membersTable(membersOf(api, "KernelOptions"), "Option"),
      "## Options of composeKernel",
      "",
      "Those of `createKernel` without `approver`, `cache`, `content`, `modeTriggers`, `resources` and `suspender`, and:",
      "",
      ...membersTable(membersOf(api, "ComposedKernelOptions"), "Option"),
      "## Methods of a kernel",
      "",
      ...membersTable(membersOf(api, "Kernel").map((member) => ({ ...member, isOptional: true }))),
    ],
  );
}

export function callsPage(): string {
  const bounds = membersOf("packages/kernel/src/bounds/bounds.ts", "Bounds").map(({ name, text }) => [
    `\`${name}\``,
    valueIn(defaultBounds, name),
    valueIn(ceilings, name),
    text,
  ]);
  return page(
    "Calls",
    "For programs that call tools: each option of a call, and each member of its result.",
    "the docstrings of the kernel",
    [
      "## Options of a call",
      "",
      ...membersTable(membersOf(callOptions, "CallOptions"), "Option"),
      "## Bounds",
      "",
      "A manifest sets them up to the ceiling. A policy and a caller can only lower them.",
      "",
      ...tableOf(["Bound", "Default", "Ceiling", "Meaning"], bounds),
      "## Error",
      "",
      ...membersTable([...membersOf(result, "CallError"), ...membersOf(result, "Hints")]),
      "## Meta",
      "",
      ...membersTable(membersOf(result, "CallMeta")),
      "## Suspend",
      "",
      ...membersTable(membersOf(callOptions, "SuspendOptions"), "Option"),
    ],
  );
}

export function toolsPage(): string {
  return page(
    "Tools",
    "For authors of tools: the functions of a tool, and the context that `execute` receives. The [manifest](manifest.md) has the data of a tool.",
    `the docstrings of \`${define}\``,
    [
      "## Functions of a tool",
      "",
      ...membersTable(membersOf(define, "ToolCode")),
      "## Context",
      "",
      ...membersTable(membersOf(define, "ToolContext").map((member) => ({ ...member, isOptional: true }))),
    ],
  );
}

function valueIn(values: object, name: string): string {
  const found = Object.entries(values).find(([each]) => each === name);
  return found === undefined ? "none" : Number(found[1]).toLocaleString("en");
}
