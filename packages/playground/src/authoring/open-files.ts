/** A WebAssembly module that a person gave, with its manifest as JSON. */
export interface GivenModule {
  readonly bytes: Uint8Array;
  readonly manifest: string;
}

type Opened =
  | { readonly ok: true; readonly source: string; readonly module: undefined }
  | { readonly ok: true; readonly module: GivenModule }
  | { readonly ok: false; readonly reason: string };

const mostSourceBytes = 500_000;
const mostModuleBytes = 16 * 1024 * 1024;

/** A file of TypeScript or JavaScript, or a `.wasm` with or without the `.json` of its manifest. Never rejects. */
export async function openFiles(files: readonly File[]): Promise<Opened> {
  const wasm = files.find(({ name }) => name.endsWith(".wasm"));
  const json = files.find(({ name }) => name.endsWith(".json"));
  const script = files.find(({ name }) => /\.[cm]?[jt]s$/.test(name));
  try {
    if (wasm !== undefined) return await withModule(wasm, json);
    if (script === undefined) return refused("Give a .ts or .js file, or a .wasm file with its .json manifest.");
    if (script.size > mostSourceBytes) return tooLarge(script, mostSourceBytes);
    return { ok: true, source: await script.text(), module: undefined };
  } catch {
    return refused("The browser cannot read the file. It may have changed or moved.");
  }
}

async function withModule(wasm: File, json: File | undefined): Promise<Opened> {
  if (wasm.size > mostModuleBytes) return tooLarge(wasm, mostModuleBytes);
  if (json !== undefined && json.size > mostSourceBytes) return tooLarge(json, mostSourceBytes);
  const bytes = new Uint8Array(await wasm.arrayBuffer());
  const manifest = json === undefined ? startManifest(wasm.name) : await json.text();
  return { ok: true, module: { bytes, manifest } };
}

/** The source of a manifest for a module, from the name of its file. */
function startManifest(file: string): string {
  const plain = file
    .slice(0, -".wasm".length)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^[_\d]+|_+$/g, "");
  const name = plain === "" ? "module" : plain.slice(0, 60);
  const input = { type: "object", properties: {}, additionalProperties: false };
  const manifest = {
    name,
    version: "0.1.0",
    description: "Says what the module does.",
    input,
    output: { kind: "json" },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function tooLarge({ size }: File, mostBytes: number): Opened {
  const [got, most] = [size, mostBytes].map((bytes) => bytes.toLocaleString("en"));
  return refused(`The file has ${got} bytes. This page opens at most ${most}.`);
}

function refused(reason: string): Opened {
  return { ok: false, reason };
}
