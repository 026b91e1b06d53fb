export { builtEngine, compileEngine, type Engine } from "./engine.ts";
export { interpreterHost, type InterpreterOptions } from "./host.ts";
