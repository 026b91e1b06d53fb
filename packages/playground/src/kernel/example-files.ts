import type { FileStore } from "@keyhole/worker-host/brokers/files";

const folder = "workspace";
const greeting = "Hello, world!\n\nThis file came with the page. Tools read and write below workspace.\n";

/** The page's files, with one in them, so that the first list and the first read have something to answer. Looked for with the first question. */
export function exampleFiles(store: FileStore): FileStore {
  let filled: Promise<unknown> | undefined;
  const fill = async (): Promise<void> => {
    const found = await store.stat(folder);
    if (!found.ok && found.fault === "not-found")
      await store.write(`${folder}/greeting.txt`, new TextEncoder().encode(greeting));
  };
  const afterwards = async <T>(act: () => Promise<T>): Promise<T> => {
    await (filled ??= fill());
    return act();
  };
  return {
    read: (path, limitBytes) => afterwards(() => store.read(path, limitBytes)),
    write: (path, bytes) => afterwards(() => store.write(path, bytes)),
    list: (path) => afterwards(() => store.list(path)),
    stat: (path) => afterwards(() => store.stat(path)),
    remove: (path) => afterwards(() => store.remove(path)),
  };
}
