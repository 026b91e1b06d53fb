/** Files of `@keyhole/kernel` that a tool's bundle holds: path in the package and text. The build writes them: see the plugin of this name. */
export const toolSources: readonly (readonly [path: string, text: string])[] = [];
