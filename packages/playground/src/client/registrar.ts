import { type Setup, type ToolPackage, type ToolSummary, versionedId } from "@keyhole/kernel";
import { noteBrought } from "./brought.ts";
import { isOfEdge } from "./edge-names.ts";
import type { KernelClient } from "./kernel-client.ts";

/** The part of the page's kernel that the registration needs. */
interface Registry {
  list(): Promise<readonly ToolSummary[]>;
  register(pkg: ToolPackage): Promise<Setup<ToolSummary>>;
  unregister(id: string): Promise<unknown>;
}

/** Waits for the start, and fails when the kernel dies. */
export type Alive = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Grants, rules and `tools.call` go by name, and the highest version answers to it. So a package that a person brings
 * takes no name that the page or an edge has, in any version. It replaces its own earlier version.
 */
export function registrar(kernel: Registry, alive: Alive): NonNullable<KernelClient["register"]> {
  /** Ids of brought packages by name. */
  const brought = new Map<string, string>();
  const take = async (pkg: ToolPackage): Promise<Setup<ToolSummary>> => {
    const { name } = pkg.manifest;
    const before = brought.get(name);
    if (isOfEdge(name)) return taken(name, "An edge that this page knows");
    if (before === undefined && (await alive(() => kernel.list())).some(({ manifest }) => manifest.name === name))
      return taken(name, "The page");
    if (before !== undefined) await alive(() => kernel.unregister(before));
    brought.delete(name);
    const setup = await alive(() => kernel.register(pkg));
    if (setup.ok) {
      brought.set(name, versionedId(pkg.manifest));
      noteBrought(pkg);
    }
    return setup;
  };
  let work: Promise<unknown> = Promise.resolve();
  // One at a time: two of one name would both find it free.
  return (pkg) => {
    const taking = work.then(() => take(pkg));
    work = taking.catch(() => {});
    return taking;
  };
}

function taken(name: string, owner: string): Setup<ToolSummary> {
  const message = `${owner} has a tool ${name}.`;
  const hint = "The grants and rules of that name are not for this tool. Give it another name.";
  return { ok: false, error: { code: "ALREADY_REGISTERED", message, path: "/name", hint } };
}
