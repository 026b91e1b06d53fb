import { builtinPage } from "./builtin-page.ts";
import { kernelPage, callsPage, toolsPage } from "./kernel-pages.ts";
import { commandPage } from "./command-page.ts";
import { eventsPage, hostsPage } from "./other-pages.ts";
import { httpPage } from "./http-page.ts";
import { page, tableOf } from "./markdown.ts";
import { schemaTable } from "./schema.ts";

/** Every page of docs/reference, by its path. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map(
    Object.entries({
      "README.md": indexPage(),
      "kernel.md": kernelPage(),
      "calls.md": callsPage(),
      "tools.md": toolsPage(),
      "builtin-tools.md": await builtinPage(),
      "manifest.md": schemaPage("Manifest", "tool", "manifest"),
      "policy.md": schemaPage("Policy document", "policy", "policy"),
      "events.md": eventsPage(),
      "hosts.md": hostsPage(),
      "command.md": await commandPage(),
      "http.md": httpPage(),
    }).map(([name, text]) => [`docs/reference/${name}`, text]),
  );
}

const index = [
  ["kernel.md", "options of `createKernel` and `composeKernel`, and the methods of a kernel"],
  ["calls.md", "options of a call, its bounds, its result and its error"],
  ["tools.md", "what `defineTool` takes, and the context of `execute`"],
  ["builtin-tools.md", "name, tier, effects and description of every tool that comes with Keyhole"],
  ["manifest.md", "every member of a tool's manifest"],
  ["policy.md", "every member of a policy document"],
  ["events.md", "every type of event in the log, and its payload"],
  ["hosts.md", "options of the hosts, brokers, sinks, servers and adapters, and the settings of the edge"],
  ["command.md", "every verb of the command `keyhole`, its options and exit codes"],
  ["http.md", "routes of the edge, their scopes, and the status of each code"],
] as const;

function indexPage(): string {
  const rows = index.map(([file, holds]) => [`[${file.replace(".md", "")}](${file})`, holds]);
  return page(
    "Reference",
    "For readers who know the task and need a name, a default or a limit.",
    "the sources",
    tableOf(["Page", "Holds"], rows),
  );
}

function schemaPage(title: string, noun: string, name: string): string {
  const path = `packages/kernel/schemas/${name}.schema.json`;
  const link = `[${name}.schema.json](../../${path})`;
  return page(
    title,
    `For authors of a ${noun}: each member, its values and its meaning. \`[]\` stands for each entry of a list, \`*\` for each name.`,
    link,
    schemaTable(path),
  );
}
