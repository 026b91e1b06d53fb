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
