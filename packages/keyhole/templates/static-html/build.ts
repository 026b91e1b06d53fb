import { cpSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pagePolicy } from "@keyhole/worker-host/csp";

// Copies what a static host serves to `site`. `keyhole pack` has written the packages.
rmSync("site", { recursive: true, force: true });
cpSync("public", "site", { recursive: true });
cpSync("packages", "site/packages", { recursive: true });
cpSync("policy.json", "site/policy.json");
cpSync(fileURLToPath(new URL(".", import.meta.resolve("keyhole/browser"))), "site/keyhole", { recursive: true });
// Hosts such as Netlify and Cloudflare Pages read this file.
writeFileSync("site/_headers", `/*\n  Content-Security-Policy: ${pagePolicy()}\n`);
console.log(`Send this header with every file of site:\nContent-Security-Policy: ${pagePolicy()}`);
