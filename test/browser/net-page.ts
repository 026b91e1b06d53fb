/** In a page or a worker. Asks the network broker for one address, and says what it answered, and what the page's policies reported. */
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { openSession } from "../brokers/session.ts";
import { openSecrets, stands } from "../support/open-secrets.ts";

const parameters = new URL(import.meta.url).searchParams;
const secrets = openSecrets({ get: () => "SECRETVALUE" });
const query = parameters.has("secret") ? `?key=${stands}` : "";
const url = `${parameters.get("url") ?? ""}${query}`;
const { hostname, port } = new URL(url);
const grants = [{ kind: "net.read" as const, hosts: [hostname], ports: [Number(port)] }];
const reported: string[] = [];
addEventListener("securitypolicyviolation", ({ blockedURI }) => reported.push(blockedURI));
const reply = await netBroker().serve(
  { kind: "net.read", operation: "fetch", arguments: { url } },
  openSession({ grants, secrets }),
);
const said = parameters.has("secret") ? { reply, reported } : reply;
if ("parent" in globalThis) parent.postMessage(said, "*");
else postMessage(said);
