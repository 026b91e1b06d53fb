import { keyhole } from "keyhole/vite";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [keyhole()],
  ssr: { noExternal: true, resolve: { conditions: ["workerd", "worker", "module", "browser"] } },
  build: {
    ssr: "src/worker.ts",
    target: "es2024",
    rolldownOptions: { external: [/^cloudflare:/], output: { codeSplitting: false } },
  },
});
