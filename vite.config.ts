import { defineConfig } from "vite";
import { prerender } from "./prerender/site-plugin.ts";

export default defineConfig({
  plugins: [prerender()],
  css: { transformer: "lightningcss" },
  // The site has no folder of static files to copy or serve.
  publicDir: false,
});
