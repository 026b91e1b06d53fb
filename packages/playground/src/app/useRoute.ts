import { useCallback, useMemo, useSyncExternalStore } from "react";
import { Listeners } from "../client/listeners.ts";
import { readRoute, type Route, writeRoute } from "./route.ts";

/** `replace`: back leads past it. */
export type Go = (route: Route, how?: "push" | "replace") => void;

const own = new Listeners();

function subscribe(listener: () => void): () => void {
  const remove = own.subscribe(listener);
  window.addEventListener("popstate", listener);
  window.addEventListener("hashchange", listener);
  return () => {
    remove();
    window.removeEventListener("popstate", listener);
    window.removeEventListener("hashchange", listener);
  };
}

/** Only the address holds the shown screen, so that back, reload and a copied link lead to the same. */
export function useRoute(): readonly [Route, Go] {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  const route = useMemo(() => readRoute(hash), [hash]);
  const go = useCallback<Go>((next, how = "push") => {
    const address = writeRoute(next);
    if (address === location.hash) return;
    if (how === "push") history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    own.tell();
  }, []);
  return [route, go];
}
