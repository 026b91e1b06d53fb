/** What the page shows, as its address says it: `#/call/ID`, `#/tool/ID`. Anything else is the start. */
export type Route =
  | { readonly kind: "start" }
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "tool"; readonly id: string };

/** A link is foreign: what is no route is the start. */
export function readRoute(hash: string): Route {
  const [, kind, encoded = "", ...rest] = hash.split("/");
  const id = decoded(encoded);
  const isRoute = hash.startsWith("#/") && rest.length === 0 && id !== undefined && id !== "";
  return isRoute && (kind === "call" || kind === "tool") ? { kind, id } : start;
}

export function writeRoute(route: Route): string {
  return route.kind === "start" ? "#/" : `#/${route.kind}/${encodeURIComponent(route.id)}`;
}

const start: Route = { kind: "start" };

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
