import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { openSession } from "./session.ts";

const broker = filesBroker(opfsStore({ folder: "keyhole-contract" }));
const body = new TextEncoder().encode("from a worker");
const write = await broker.serve(
  { kind: "fs.write", operation: "write", arguments: { path: "a/b" }, body },
  openSession(),
);
const read = await broker.serve({ kind: "fs.read", operation: "read", arguments: { path: "a/b" } }, openSession());
const list = await broker.serve({ kind: "fs.read", operation: "list", arguments: { path: "a" } }, openSession());
postMessage({ write, list, text: read.ok && new TextDecoder().decode(read.body) });
