declare module "*.md" {
  const file: import("./text.tsx").TextFile;
  export default file;
}

/** The company's pages, as prerender/texts.ts finds them. */
declare module "virtual:pages" {
  export const pages: readonly import("./screens/text-pages.tsx").WrittenPage[];
}
