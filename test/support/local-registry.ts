import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { root } from "./sources.ts";

/*
 * A registry on this machine that has our tarballs as if they were published, and sends npm on to its own registry for all else.
 */

interface Tarball {
  readonly file: string;
  readonly bytes: Buffer;
  readonly manifest: { readonly name: string; readonly version: string };
}

function tarballs(): readonly Tarball[] {
  const files = globSync("dist/*.tgz", { cwd: root });
  if (files.length === 0) throw new Error("There are no tarballs: `npm run build:packages` writes them.");
  return files.map((path) => {
    const text = execFileSync("tar", ["xzOf", join(root, path), "package/package.json"], { encoding: "utf8" });
    return {
      file: basename(path),
      bytes: readFileSync(join(root, path)),
      manifest: JSON.parse(text) as Tarball["manifest"],
    };
  });
}

function packument({ file, bytes, manifest }: Tarball, origin: string): object {
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const { name, version } = manifest;
  const dist = { tarball: `${origin}/-/${file}`, integrity };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

export interface LocalRegistry {
  readonly origin: string;
  close(): Promise<void>;
}

export async function localRegistry(): Promise<LocalRegistry> {
  const ours = tarballs();
  const upstream = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim().replace(/\/$/, "");
  const server = createServer(({ url = "/" }, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const path = decodeURIComponent(url.slice(1));
    const tarball = ours.find(({ file }) => path === `-/${file}`);
    if (tarball) return response.end(tarball.bytes);
    const named = ours.find(({ manifest }) => manifest.name === path);
    if (named) return response.end(JSON.stringify(packument(named, origin)));
    return response.writeHead(307, { location: upstream + url }).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
