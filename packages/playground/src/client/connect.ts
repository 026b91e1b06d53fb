import { isOfPage } from "./edge-address.ts";
import { loadEdgeSettings } from "./edge-settings.ts";
import { ClientFault, type KernelClient, type Place } from "./kernel-client.ts";

/** Rejects with a {@link ClientFault}. */
export async function connect(place: Place): Promise<KernelClient> {
  if (place === "browser") return (await import("./browser-client.ts")).openBrowserClient();
  const settings = loadEdgeSettings();
  if (settings !== undefined && isOfPage(settings.address))
    return (await import("./attach.ts")).openPageClient(settings);
  if (settings !== undefined) return (await import("./edge-client.ts")).openEdgeClient(settings);
  throw new ClientFault(
    "unconfigured",
    "No edge is set up in this tab.",
    "Start one with npm start and open the address that it prints, or enter address and token by hand.",
  );
}
