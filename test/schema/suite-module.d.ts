declare module "virtual:json-schema-suite" {
  export const suite: import("./run-suite.ts").Suite | null;
}
