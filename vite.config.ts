import { defineConfig } from "vite";
import { site } from "./prerender/site-plugin.ts";

export default defineConfig({
  plugins: [site()],
  css: { transformer: "lightningcss" },
  // No folder is copied into the site as it is, nor served from the project's root.
  publicDir: false,
});
