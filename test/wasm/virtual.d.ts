declare module "virtual:bombs-on-node" {
  export const nodeCounts: Readonly<Record<string, import("./bombs.ts").BombCount>>;
}
