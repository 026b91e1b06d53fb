declare module "virtual:theirs" {
  export const theirs: readonly ((value: unknown) => boolean)[];
}
