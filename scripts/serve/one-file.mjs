import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import { frameDigest } from "../../packages/playground/content-security-policy.ts";
import { onePage } from "../../packages/playground/one-page.ts";
import { toolSources } from "../../packages/playground/tool-sources.ts";
import { toolSummaries } from "../../packages/playground/tool-summaries.ts";
import { keyhole } from "../keyhole-plugin.mjs";
import { root } from "../project.mjs";

/** @returns {Promise<string>} the page as one file of HTML */
export async function buildOneFile() {
  let digest = "";
  /** @type {import("vite").Plugin} */
  const watcher = {
    name: "playground:frame-digest",
    moduleParsed({ id, code }) {
      digest = frameDigest(id, code) ?? digest;
    },
  };
  const whole = { output: { codeSplitting: false } };
  const result = await build({
    configFile: false,
    logLevel: "warn",
    root: join(root, "packages/playground"),
    plugins: [keyhole(), react(), toolSummaries(), toolSources(), watcher],
    worker: { format: "es", plugins: () => [keyhole(), toolSources()], rolldownOptions: whole },
    resolve: { conditions: ["keyhole-source", "module", "browser", "production"] },
    build: {
      write: false,
      copyPublicDir: false,
      target: "es2024",
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      cssCodeSplit: false,
      modulePreload: false,
      assetsInlineLimit: 0,
      rolldownOptions: whole,
    },
  });
  if (digest === "") throw new Error("The script of the isolates' frame was not found.");
  return onePage(filesOf(/** @type {import("vite").Rolldown.RolldownOutput} */ (result)), digest);
}

/** @param {import("vite").Rolldown.RolldownOutput} built */
function filesOf({ output }) {
  const workers = new Map();
  const wasm = new Map();
  let [html, style, script] = ["", "", ""];
  for (const each of output) {
    const name = each.fileName.split("/").at(-1) ?? "";
    if (each.type === "chunk") script = each.code;
    else if (name.endsWith(".html")) html = String(each.source);
    else if (name.endsWith(".css")) style += String(each.source);
    else if (name.endsWith(".js")) workers.set(name, String(each.source));
    else if (name.endsWith(".wasm")) wasm.set(name, Buffer.from(each.source));
  }
  return { html, style, script, workers, wasm };
}
