export { nodeStore } from "./store.ts";
