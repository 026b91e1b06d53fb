/** Checked by the compiler alone: a line that is wrong does not compile. */
import type { AuditEvent, Kernel, Mode, Setup, ToolSummary } from "@keyhole/kernel";
import type { KernelClient, RemoteSurface } from "@keyhole/worker-host/browser";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._: Equal<A, B> extends true ? [] : [never, A, B]): void {}

// Every member of a kernel, and one more.
same<keyof KernelClient, keyof Kernel | "ready">();
same<keyof KernelClient["audit"], keyof Kernel["audit"]>();
same<keyof KernelClient["approvals"], keyof Kernel["approvals"]>();
same<keyof KernelClient["grants"], keyof Kernel["grants"]>();

// Promises stay, overloads included; everything else becomes one.
same<KernelClient["call"], Kernel["call"]>();
same<KernelClient["suspend"], Kernel["suspend"]>();
same<ReturnType<KernelClient["register"]>, Promise<Setup<ToolSummary>>>();
same<Parameters<KernelClient["register"]>, Parameters<Kernel["register"]>>();
same<KernelClient["mode"], () => Promise<Mode>>();
same<KernelClient["audit"]["writable"], () => Promise<boolean>>();
same<KernelClient["audit"]["subscribe"], (listener: (event: AuditEvent) => void) => () => void>();

// A kernel with one more member: a client without it is no client.
interface Later extends Kernel {
  readonly later: { count(of: string): number };
}
type LaterClient = RemoteSurface<Later>;
same<LaterClient["later"]["count"], (of: string) => Promise<number>>();
declare const client: RemoteSurface<Kernel>;
// @ts-expect-error: `later` is missing
client satisfies LaterClient;

// What cannot cross takes nothing, and says so.
declare const local: KernelClient["registerTrusted"];
// @ts-expect-error: no tool object fits
void local({ definition: {}, code: {} });
same<typeof local, (...args: never[]) => Promise<Extract<Setup<never>, { readonly ok: false }>>>();
