import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";

const store = opfsStore({ folder: "keyhole-contract" });
await store.write("d/replaced", new Uint8Array(1));

/** The write stays before its last step: the worker ends there. */
FileSystemWritableFileStream.prototype.close = () => {
  postMessage("writing");
  return new Promise<never>(() => {});
};
addEventListener("message", ({ data }) => void store.write(data, new Uint8Array(100_000)));
postMessage("ready");
