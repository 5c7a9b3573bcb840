import { defineConfig } from "vite";
import { prerender } from "./prerender/site-plugin.ts";

export default defineConfig({
  plugins: [prerender()],
  css: { transformer: "lightningcss" },
  // No folder is copied into the site as it is, nor served from the project's root.
  publicDir: false,
});
