import type { KnipConfig } from "knip";

/** The Vite plugin resolves `keyhole:./tool.ts?iife`; knip follows the file that is named. */
const named = (text: string): string =>
  text.replaceAll(/^import .*\?all";$/gm, "").replaceAll(/(["'])keyhole:([^"'?]*)(?:\?[a-z-]+)?\1/g, "$1$2$1");

const config: KnipConfig = {
  compilers: { ts: named },
  rules: { optionalPeerDependencies: "off" },
  // An export that only its own file uses is part of how the file explains itself.
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignoreDependencies: [
    // What scripts start by name.
    "@arethetypeswrong/cli",
    "@modelcontextprotocol/conformance",
    // Servers that tests start by their files.
    "@agent-infra/mcp-server-commands",
    "@agent-infra/mcp-server-filesystem",
    "@allpepper/memory-bank-mcp",
    "@coo-quack/calc-mcp",
    "@itseasy21/mcp-knowledge-graph",
    "@kazuph/mcp-taskmanager",
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-sequential-thinking",
    "mcp-sequentialthinking-tools",
    "time-mcp",
    "oxlint",
    "oxlint-tsgolint",
    "publint",
    // The generator of the site, with a lock of its own.
    "vitepress",
    // workerd under wrangler.
    "miniflare",
    // The interpreter's module, which tests take from worker-host's dependencies.
    "quickjs-wasi",
    // The official SDK, which tests take from mcp's dependencies.
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/server",
    // Tests make tokens with mcp's dependency.
    "jose",
    // The edge's peer, which every run of it takes from here.
    "wrangler",
    // A peer of the agent frameworks, which the part of the tests for them installs.
    "zod",
    // Tests render parts of the page, and ask its editors, with the playground's dependencies.
    "@codemirror/autocomplete",
    "@codemirror/lang-json",
    "@codemirror/state",
    "react",
    "react-dom",
    // A page of the tests is bundled with its file.
    "esbuild-wasm",
    // Types of `keyhole:` imports in packages that it depends on itself.
    "keyhole",
    // Modules of the platform (`cloudflare:workers`), and the schema that the changesets configuration names.
    "cloudflare",
    "@changesets/config",
  ],
  // Debian's wabt and clang, and a file system for a full disk: tests run them where they can.
  ignoreBinaries: ["clang", "wast2json", "mount", "umount"],
  // The shell of an isolate imports the tool that is put beside it.
  ignoreUnresolved: ["./tool.js"],
  workspaces: {
    ".": {
      entry: [
        "scripts/*.mjs",
        // The generator of the site reads it.
        "site/.vitepress/config.mjs",
        "test/**/*.test.ts",
        "test/bench/**/*.bench.{ts,mjs}",
        "test/bench/{isolate,code-mode}/page.ts",
        "test/bench/mcp-server.ts",
        "test/bench/audit/{page/page,object/worker}.ts",
        "test/brokers/kv-writer.ts",
        "test/bus/nats-kernel.ts",
        "test/e2e/edge/{worker,asking,deed}.ts",
        "test/**/fixtures/**",
        "test/schema/{deoptimisations,memory,pattern-memory,without-code-generation}.ts",
        // A plugin runs them in a Node of their own.
        "test/wasm/{count-bombs,suspend-call,urls,model/record}.ts",
        // A test starts them as processes.
        "test/node/{process,suspend-process}.ts",
      ],
      project: ["scripts/**/*.mjs", "site/.vitepress/*.mjs", "test/**/*.{ts,tsx}", "*.config.ts"],
    },
    // Each has packages of its own, which only its part of the tests installs.
    "test/peers/*": {
      entry: [
        "*.{test,bench}.ts",
        "ratios/in-*.ts",
        "ratios/worker.ts",
        "ratios/page/main.ts",
        "in-node.ts",
        "page/page.ts",
      ],
      ignoreDependencies: [
        // A peer dependency of SDKs, which knip sees only where those are installed.
        "zod",
        // Servers that a test starts as processes.
        "@modelcontextprotocol/server-github",
        "@notionhq/notion-mcp-server",
        "@playwright/mcp",
        "chrome-devtools-mcp",
        // Clients that a test starts as processes, or loads into a page.
        "@mcp-b/webmcp-polyfill",
        "@modelcontextprotocol/inspector",
        "mcporter",
        // Another peer has it.
        "@modelcontextprotocol/sdk",
      ],
      project: ["*.ts", "ratios/**/*.ts", "page/*.ts"],
    },
    "packages/kernel": {
      project: ["src/**/*.ts"],
    },
    "packages/worker-host": {
      project: ["src/**/*.ts"],
      // What `tap-parser` imports by the name of Node's own module: the packer takes the package.
      ignoreDependencies: ["events"],
    },
    "packages/agents": {
      project: ["src/**/*.ts"],
    },
    "packages/bus": {
      project: ["src/**/*.ts"],
    },
    "packages/keyhole": {
      project: ["src/**/*.ts"],
      // Packages of a template, which its project installs.
      ignoreDependencies: ["@keyhole/agents", "ai"],
    },
    "packages/mcp": {
      project: ["src/**/*.ts"],
    },
    "packages/edge": {
      entry: ["src/worker.ts", "src/sandbox.ts", "src/dev/cli.ts"],
      project: ["src/**/*.ts"],
    },
    "packages/playground": {
      // The page imports its tools by a pattern.
      entry: ["index.html", "verify.html", "src/verify/main.ts", "src/tools/*.ts"],
      project: ["src/**/*.{ts,tsx}"],
    },
  },
};

export default config;
