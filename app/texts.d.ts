/** A Markdown file with front matter, as prerender/texts.ts reads it. */
declare module "*.md" {
  const file: import("./text.tsx").TextFile;
  export default file;
}

/** The metrics of a company's own display font for its fallback, as prerender/site-dir.ts measures them, or empty. */
declare module "virtual:display-font" {
  export const displayFallback: string;
}

/** The company's pages, as prerender/texts.ts finds them. */
declare module "virtual:pages" {
  export const pages: readonly import("./screens/page.tsx").WrittenPage[];
}
