import { type IndexedDbSink, indexedDbSink } from "@keyhole/worker-host/sinks/indexeddb";
import { describeState } from "./state.ts";

let databases = 0;

describeState("IndexedDB", () => {
  const database = `state-contract-${databases++}`;
  let sink: IndexedDbSink | undefined;
  return {
    open: () => (sink = indexedDbSink({ database })),
    kill: () => sink?.close(),
  };
});
