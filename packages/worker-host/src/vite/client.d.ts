/** Types of the imports that the plugin serves. In a program: `/// <reference types="@keyhole/worker-host/vite/client" />`. */

declare module "*?tool" {
  const pkg: import("@keyhole/kernel").ToolPackage;
  export default pkg;
}

declare module "*?iife" {
  const text: string;
  export default text;
}

declare module "*?esm" {
  const text: string;
  export default text;
}

declare module "*?bytes" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}

declare module "*?metered" {
  // WebAssembly.Module, where the types of the program know it.
  const module: typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } } ? Module : never;
  export default module;
}

declare module "*?metered-url" {
  const url: string;
  export default url;
}
