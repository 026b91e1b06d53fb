/** Checked by the compiler alone: a line that is wrong does not compile. */
import type { CallResult, Kernel, Tool, ToolPackage } from "@keyhole/kernel";

declare const kernel: Kernel;
declare const greet: ToolPackage<{ name: string }, string>;

// A name, a package, and a variable that holds either.
declare const either: string | ToolPackage;
declare const known: string | ToolPackage<{ name: string }, string>;
declare const name: string;
void (kernel.call("greet", { name: "Ada" }) satisfies Promise<CallResult>);
void (kernel.call(name, { name: "Ada" }) satisfies Promise<CallResult>);
void (kernel.call(either, { name: "Ada" }) satisfies Promise<CallResult>);
void (kernel.call(known, { name: "Ada" }) satisfies Promise<CallResult>);
void (kernel.call(greet, { name: "Ada" }) satisfies Promise<CallResult<string>>);

// @ts-expect-error: the package's own input is checked
void kernel.call(greet, { name: 1 });
// @ts-expect-error: so is one of several packages
void kernel.call(greet as typeof greet | ToolPackage<{ id: number }, number>, { name: 1, id: "x" });
// @ts-expect-error: no tool
void kernel.call(7, {});

// A package from a file of JSON.
declare const file: { manifest: { name: string; determinism: string }; code: string; hash: string };
void kernel.register(file);
void kernel.register(greet);
declare const tool: Tool<{ name: string }, string>;
// @ts-expect-error: a tool object is for registerTrusted
void kernel.register(tool);
// @ts-expect-error: a package has a hash
void kernel.register({ manifest: {}, code: "" });
