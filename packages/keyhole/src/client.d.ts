/** Types of the imports that the plugin serves. In a program: `/// <reference types="keyhole/client" />`. */

declare module "keyhole:*?all" {
  const packages: readonly import("@keyhole/kernel").ToolPackage[];
  export default packages;
}
declare module "keyhole:*?iife" {
  const text: string;
  export default text;
}
declare module "keyhole:*?esm" {
  const text: string;
  export default text;
}
declare module "keyhole:*?bytes" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
declare module "keyhole:*?metered" {
  // WebAssembly.Module, where the types of the program know it.
  const module: typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } } ? Module : never;
  export default module;
}
declare module "keyhole:*?metered-url" {
  const url: string;
  export default url;
}
// Of patterns with the same beginning the first wins: this one is the last.
declare module "keyhole:*" {
  const pkg: import("@keyhole/kernel").ToolPackage;
  export default pkg;
}
