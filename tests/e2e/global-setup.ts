import { buildIfStale } from "../support/build-if-stale.ts";

// biome-ignore lint/style/noDefaultExport: Playwright looks for it.
export default buildIfStale;
