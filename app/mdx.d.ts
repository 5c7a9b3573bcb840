declare module "*.mdx" {
  import type { MDXContent } from "mdx/types.js";
  import type { Section } from "./components/contents.tsx";

  const Text: MDXContent;
  export default Text;
  /** Added by prerender/markdown.ts. */
  export const sections: readonly Section[];
}

declare module "*.md" {
  import type { MDXContent } from "mdx/types.js";
  import type { Section } from "./components/contents.tsx";

  const Text: MDXContent;
  export default Text;
  export const sections: readonly Section[];
}

/** The metrics of a company's own display font for its fallback, as prerender/site-dir.ts measures them, or empty. */
declare module "virtual:display-font" {
  export const displayFallback: string;
}

/** The pages of `app/pages/`, as prerender/site-plugin.ts finds them. */
declare module "virtual:pages" {
  import type { WrittenPage } from "./screens/page.tsx";

  export const pages: readonly WrittenPage[];
}
