import { dirname, resolve } from "node:path";
import { visible } from "@keyhole/kernel/visible";
import { forward } from "../node/root.ts";

/** Of the context of a rollup plugin, what watches. */
interface WatchContext {
  addWatchFile(path: string): void;
  warn(message: string): void;
}

/** An output of rollup: a folder, or one file. */
export interface Output {
  readonly dir?: string | undefined;
  readonly file?: string | undefined;
}

export function outputFolders(outputs: readonly Output[]): readonly string[] {
  return outputs.flatMap(({ dir, file }) => dir ?? (file === undefined ? [] : dirname(file)));
}

/**
 * Watches a folder of a list. Rollup and rolldown watch a folder with all that is in it: an output in there would start the next build, and so without an end.
 *
 * @param outputs folders to which the bundler writes
 */
export function watchFolder(context: WatchContext, folder: string, outputs: readonly string[]): void {
  const output = outputs.find((each) => `${forward(resolve(each))}/`.startsWith(`${folder}/`));
  if (output === undefined) return context.addWatchFile(folder);
  context.warn(
    `keyhole: ${visible(folder)} is not watched for new tools, because the build writes to ${visible(output)}. Put the tools into a folder of their own.`,
  );
}
