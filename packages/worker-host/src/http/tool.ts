import { knownOptions } from "@keyhole/kernel/foreign";
import {
  type Broker,
  type IsolateHost,
  matchHost,
  matchName,
  type RegisteredTool,
  type SetupError,
} from "@keyhole/kernel";
import { capabilitiesOf, compileTemplate, type NeededCapability } from "./compile.ts";

/** Runs tools of source `http` beside those of a host. Their requests go through the gate and the broker for the network, like those of any tool. */
export function withHttp(host: IsolateHost): IsolateHost {
  const { enforces } = host;
  return {
    ...host,
    sources: [...host.sources, "http"],
    enforces: (manifest) => {
      if (manifest.source === "http") return [];
      return typeof enforces === "function" ? enforces(manifest) : enforces;
    },
    check: (tool) => (tool.body.source === "http" ? httpFault(tool) : host.check?.(tool)),
    open: async (tool, isWanted) => {
      const plan = planOf(tool);
      if (!plan?.ok) return host.open(tool, isWanted);
      // Not part of pages that have no such tool.
      const { openRequests } = await import("./run.ts");
      return openRequests(tool, plan.plan);
    },
  };
}

/**
 * Runs tools of source `http` and no other: for a program that has no isolates.
 *
 * @example
 * const kernel = await createKernel({ host: httpHost({ brokers: [netBroker()] }), policy });
 */
export function httpHost(options: { readonly brokers?: readonly Broker[] } = {}): IsolateHost {
  const { brokers = [] } = knownOptions(options, { brokers: true }, "httpHost");
  return withHttp({
    name: "http",
    sources: [],
    enforces: [],
    preempts: true,
    brokers,
    open: () => Promise.reject(new TypeError("this host has no isolates")),
    close: async () => {},
  });
}

function planOf({ body, manifest }: RegisteredTool): ReturnType<typeof compileTemplate> | undefined {
  return body.source === "http" ? compileTemplate(body.template, manifest.input, manifest.output) : undefined;
}

/** The fault of a tool that is a request. */
function httpFault(tool: RegisteredTool): SetupError | undefined {
  const compiled = planOf(tool);
  if (!compiled) return undefined;
  if (!compiled.ok) {
    const { path, message, hint = "" } = compiled;
    return { code: "INVALID_MANIFEST", path, message, hint };
  }
  for (const needed of capabilitiesOf(compiled.plan)) {
    if (isDeclared(tool, needed)) continue;
    const message = `The template needs the capability \`${needed.kind}\` for its own hosts, and the manifest does not declare it.`;
    return { code: "INVALID_MANIFEST", path: "/capabilities", message, hint: JSON.stringify(needed) };
  }
  return undefined;
}

/** Whether a tool says of itself what its template does. The gate asks again, about each request. */
function isDeclared({ manifest }: RegisteredTool, needed: NeededCapability): boolean {
  const names = "names" in needed ? needed.names : [];
  const covers = (host: string, name?: string): boolean =>
    manifest.capabilities.some(
      (each) =>
        each.kind === needed.kind &&
        each.optional !== true &&
        "hosts" in each &&
        each.hosts.some((pattern) => pattern === "*" || matchHost(pattern, host, true)) &&
        (name === undefined || ("names" in each && each.names.some((pattern) => matchName(pattern, name)))),
    );
  return needed.hosts.every((host) => (names.length === 0 ? covers(host) : names.every((name) => covers(host, name))));
}
