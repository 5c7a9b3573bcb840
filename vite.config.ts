import mdx from "@mdx-js/rollup";
import { defineConfig } from "vite";
import { mdxSections } from "./prerender/mdx-sections.ts";
import { site } from "./prerender/site-plugin.ts";

export default defineConfig({
  plugins: [
    // Of Markdown, only the policies have numbered sections.
    { enforce: "pre", ...mdx({ remarkPlugins: [mdxSections], include: "**/*.mdx" }) },
    { enforce: "pre", ...mdx({ include: "**/*.md" }) },
    site(),
  ],
  css: { transformer: "lightningcss" },
  // Paths under /app or /public would be the site's own; nothing is served unbuilt.
  publicDir: false,
});
