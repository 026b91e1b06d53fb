import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { fileURLToPath } from "node:url";
import { moduleByAjv } from "./ajv.ts";
import { type Condition, entriesOf } from "./contest.ts";
import { measure, type Row } from "./measure.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** One script: the validator, and a module of ajv's for each schema. */
async function bundled({ otherSets }: Condition): Promise<string> {
  const modules = entriesOf(otherSets).map(({ schema }) => moduleByAjv(schema));
  const names = modules.map((_, index) => `theirs:${index}`);
  const list = `${names.map((name, index) => `import c${index} from "${name}";`).join("\n")}
    export const theirs = [${names.map((_, index) => `c${index}`).join()}];`;
  const { outputFiles } = await build({
    entryPoints: [`${folder}worker.ts`],
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["keyhole-source"],
    plugins: [
      {
        name: "theirs",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^virtual:theirs$/ }, () => ({ path: "list", namespace: "theirs" }));
          onResolve({ filter: /^theirs:/ }, ({ path }) => ({ path: path.slice(7), namespace: "theirs" }));
          onLoad({ filter: /^/, namespace: "theirs" }, ({ path }) => ({
            contents: path === "list" ? list : modules[Number(path)]!,
            resolveDir: folder,
            loader: "js",
          }));
        },
      },
    ],
  });
  return outputFiles[0]!.text;
}

/** One condition in a workerd of its own. */
export async function ratiosInWorkerd(condition: Condition): Promise<readonly Row[]> {
  const options = { modules: true, script: await bundled(condition), compatibilityDate: "2026-01-01" };
  const worker = new Miniflare(convertV4MiniflareOptions(options));
  const ask = async (body: unknown): Promise<void> => {
    const answer = await worker.dispatchFetch("http://bench/", { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.text();
  };
  const timed = async (body: unknown): Promise<number> => {
    const start = performance.now();
    await ask(body);
    return performance.now() - start;
  };
  try {
    await ask(condition);
    let idleMs = Infinity;
    for (let time = 0; time < 50; time++) idleMs = Math.min(idleMs, await timed([0, "ours", "valid", 0]));
    return await measure(async (...run) => (await timed(run)) - idleMs, 25);
  } finally {
    await worker.dispose();
  }
}
