import type { ToolPackage } from "@keyhole/kernel";
import { encodeBase64 } from "@keyhole/kernel/foreign";

/** From text: a literal would take a key such as `__proto__` for a prototype, and parses slower. */
export function packageModule(pkg: ToolPackage): string {
  return `export default /* @__PURE__ */ JSON.parse(${JSON.stringify(JSON.stringify(pkg))});`;
}

export function textModule(text: string): string {
  return `export default ${JSON.stringify(text)};`;
}

/** In the module itself, so that they are there wherever it runs. */
export function bytesModule(bytes: Uint8Array): string {
  return `export default Uint8Array.from(atob(${JSON.stringify(encodeBase64(bytes))}), (unit) => unit.charCodeAt(0));`;
}
