export { type HttpDefinition, httpPackage } from "./package.ts";
export { httpHost, withHttp } from "./tool.ts";
