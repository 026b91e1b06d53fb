import type { DevEnvironment, EnvironmentModuleNode } from "vite";

/** As Vite names it. `update` is a change of what is in the file. */
export interface FileChange {
  readonly type: "create" | "update" | "delete";
  readonly file: string;
}

type Check = (change: FileChange) => boolean;

/** The modules that may change with a file, where Vite does not know it: Vite knows only what a module that loaded was made of. */
export class Dependents {
  /** By environment, because each loads its modules for itself. */
  readonly #checks = new WeakMap<object, Map<string, Check>>();

  /** @param isTouched whether the change makes another module */
  note(environment: object, id: string, isTouched: Check): void {
    const checks = this.#checks.get(environment) ?? new Map<string, Check>();
    this.#checks.set(environment, checks.set(id, isTouched));
  }

  /**
   * @param known the modules that Vite knows
   * @returns all; `undefined` where Vite knows them
   */
  changed(
    environment: DevEnvironment,
    known: readonly EnvironmentModuleNode[],
    change: FileChange,
  ): EnvironmentModuleNode[] | undefined {
    const checks = [...(this.#checks.get(environment) ?? [])].filter(([, isTouched]) => isTouched(change));
    if (checks.length === 0) return undefined;
    const touched = checks.flatMap(([id]) => environment.moduleGraph.getModuleById(id) ?? []);
    // Vite reloads no importer of a module that failed.
    const failed = touched.filter((each) => each.isSelfAccepting === undefined);
    return [...new Set([...known, ...touched, ...failed.flatMap((each) => [...each.importers])])];
  }
}
