import type { Broker } from "@keyhole/kernel";
import { type Refused, refused } from "./fault.ts";

/** A broker whose code loads with its first request. Where it cannot be loaded, the request is refused and the next one tries again. */
export function lazyBroker(kinds: Broker["kinds"], load: () => Promise<Broker>): Broker {
  let loading: Promise<Broker> | undefined;
  const loaded = (): Promise<Broker | undefined> => {
    loading ??= load();
    return loading.catch(() => {
      loading = undefined;
      return undefined;
    });
  };
  return {
    kinds,
    needs: async (request) => (await loaded())?.needs(request) ?? notLoaded(kinds),
    serve: async (request, session) => (await loaded())?.serve(request, session) ?? notLoaded(kinds),
  };
}

function notLoaded(kinds: Broker["kinds"]): Refused {
  return refused(
    "UNAVAILABLE",
    `The code that serves ${kinds.join(" and ")} could not be loaded.`,
    "Try again later.",
    "Serve every file of the page's build, the chunks that are imported later included.",
  );
}
