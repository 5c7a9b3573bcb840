import mdx from "@mdx-js/rollup";
import { defineConfig } from "vite";
import { mdxSections } from "./prerender/mdx-sections.ts";
import { site } from "./prerender/site-plugin.ts";

export default defineConfig({
  plugins: [
    // Only the policies, which are MDX, have numbered sections.
    { enforce: "pre", ...mdx({ remarkPlugins: [mdxSections], include: "**/*.mdx" }) },
    { enforce: "pre", ...mdx({ include: "**/*.md" }) },
    site(),
  ],
  css: { transformer: "lightningcss" },
  // No folder is copied into the site as it is, nor served from the project's root.
  publicDir: false,
});
