import react from "@vitejs/plugin-react";
import { pagePolicy } from "@keyhole/worker-host/csp";
import { keyhole } from "keyhole/vite";
import { defineConfig } from "vite";

// The server of your page sends this header, as `vite preview` does here. `vite build` prints it.
const headers = { "content-security-policy": pagePolicy() };

export default defineConfig({
  plugins: [react(), keyhole()],
  preview: { headers },
  // Only the worker imports it: `vite` would find it late, and reload the page at its first start.
  optimizeDeps: { include: ["@keyhole/worker-host/sinks/indexeddb"] },
});
