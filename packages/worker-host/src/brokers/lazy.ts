import type { Broker } from "@keyhole/kernel";
import { type Refused, refused } from "./fault.ts";

/** A broker whose code loads with its first request. Where it does not load, the broker refuses the request, and the next one tries again. */
export function lazyBroker(families: Broker["families"], load: () => Promise<Broker>): Broker {
  let loading: Promise<Broker> | undefined;
  const loaded = (): Promise<Broker | undefined> => {
    loading ??= load();
    return loading.catch(() => {
      loading = undefined;
      return undefined;
    });
  };
  return {
    families,
    needs: async (request) => (await loaded())?.needs(request) ?? notLoaded(families),
    serve: async (request, session) => (await loaded())?.serve(request, session) ?? notLoaded(families),
  };
}

function notLoaded(families: Broker["families"]): Refused {
  return refused(
    "UNAVAILABLE",
    `The code that serves ${families.map(({ kind }) => kind).join(" and ")} could not be loaded.`,
    "Try again later.",
    "Serve every file of the page's build, including the chunks of later imports.",
  );
}
