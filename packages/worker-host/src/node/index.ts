export { fileSink, type FileSink, type FileSinkOptions } from "./file-sink.ts";
export { nodeHost, type NodeHostOptions } from "./host.ts";
export { nodeStore } from "./store.ts";
