/** Trusted Types (a W3C draft): where a page's policy asks for them, text becomes a document or a script only through a policy of a name that the page allows. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: Readonly<Record<"createHTML" | "createScript" | "createScriptURL", (text: string) => string>>,
  ): Readonly<Record<"createHTML" | "createScript" | "createScriptURL", (text: string) => string>>;
}

const same = (text: string): string => text;

let made: ReturnType<TrustedTypes["createPolicy"]> | undefined;

/**
 * Marks texts of this package's own as trusted; a realm without Trusted Types gets them as they are. Never for a text in which a tool or a caller has a part.
 *
 * @throws TypeError where the page's policy does not allow the name `keyhole`
 */
export function trusted(): ReturnType<TrustedTypes["createPolicy"]> {
  const rules = { createHTML: same, createScript: same, createScriptURL: same };
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  return (made ??= trustedTypes?.createPolicy("keyhole", rules) ?? rules);
}
