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

  /** The ids of modules. */
  of(environment: object, change: FileChange): readonly string[] {
    const checks = this.#checks.get(environment) ?? new Map<string, Check>();
    return [...checks].filter(([, isTouched]) => isTouched(change)).map(([id]) => id);
  }
}
