declare module "*.mdx" {
  import type { MDXContent } from "mdx/types.js";
  import type { PolicySection } from "./screens/policy.tsx";

  const Text: MDXContent;
  export default Text;
  /** Added by prerender/mdx-sections.ts. */
  export const sections: readonly PolicySection[];
}

declare module "*.md" {
  import type { MDXContent } from "mdx/types.js";

  const Text: MDXContent;
  export default Text;
}
