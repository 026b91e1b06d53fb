import react from "@vitejs/plugin-react";
import { pagePolicy } from "@keyhole/worker-host/csp";
import { keyhole } from "keyhole/vite";
import { defineConfig } from "vite";

// The server of your page sends this header, as `vite preview` does here. `vite build` prints it.
const headers = { "content-security-policy": pagePolicy() };

export default defineConfig({ plugins: [react(), keyhole()], preview: { headers } });
