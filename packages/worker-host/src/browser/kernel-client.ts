import type { Kernel, Setup } from "@keyhole/kernel";

type LocalOnly = Extract<keyof Kernel, "registerTrusted">;

/** Members of a kernel that cannot cross to a page, each with the reason. A new member of `Kernel` stands here or crosses: with neither, the client does not compile. */
export const localOnly: Readonly<Record<LocalOnly, string>> = {
  registerTrusted: "A tool object has functions, and they run in the realm of the kernel.",
};

/**
 * A member of a kernel in the type that a page has. Methods that return a promise or a function to
 * stop stay as they are. Other methods and properties become methods that return a promise. Groups
 * of members cross member by member.
 */
type Crossed<Member> = [Member] extends [(...args: never[]) => Promise<unknown> | (() => void)]
  ? Member
  : [Member] extends [(...args: infer Args) => infer Answer]
    ? (...args: Args) => Promise<Answer>
    : [Member] extends [object]
      ? { readonly [Name in keyof Member]: Crossed<Member[Name]> }
      : () => Promise<Member>;

/** Refuses with the reason of {@link localOnly}; the compiler takes no argument. */
type Refused = (...args: never[]) => Promise<Extract<Setup<never>, { readonly ok: false }>>;

/** The surface of a kernel as it looks from another thread. */
export type RemoteSurface<Local> = {
  readonly [Name in keyof Local]: Name extends LocalOnly ? Refused : Crossed<Local[Name]>;
};

/**
 * A kernel that lives in a worker of this page, with the methods of {@link Kernel}. Where no kernel starts in that worker, every method but `close` rejects with
 * `KernelUnavailable`. Signals, listeners, approvers and streams stay in the page and work as they do there.
 */
export interface KernelClient extends RemoteSurface<Kernel> {
  /** Resolves when the kernel is ready; calls need not wait for it. */
  ready(): Promise<void>;
}
