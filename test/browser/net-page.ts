/** Asks the network broker for one address, and says what it answered. */
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { openSession } from "../brokers/session.ts";

const url = new URL(import.meta.url).searchParams.get("url") ?? "";
const { hostname, port } = new URL(url);
const session = openSession({ grants: [{ kind: "net.read", hosts: [hostname], ports: [Number(port)] }] });
const reply = await netBroker().serve({ kind: "net.read", operation: "fetch", arguments: { url } }, session);
parent.postMessage(reply, "*");
