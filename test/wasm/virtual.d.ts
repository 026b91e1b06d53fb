declare module "virtual:bombs-on-node" {
  export const nodeCounts: Readonly<Record<string, import("./bombs.ts").BombCount>>;
}

declare module "virtual:suspended-on-node" {
  export const suspended: import("./waiting-call.ts").SuspendedOnNode;
}

declare module "virtual:urls-on-node" {
  export const nodeUrls: Readonly<Record<string, string>>;
}
