// `npm run claims`: looks for environmental claims in everything that the site and its mails say, without building it.
import { createServer, isRunnableDevEnvironment } from "vite";
import type { RenderContext } from "../app/screen.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { hasErrors, reportText } from "../prerender/claims/check.ts";
import { RULES } from "../prerender/claims/rules.ts";
import { checkSiteClaims } from "../prerender/claims/site-claims.ts";

type Renderer = typeof import("../app/render.tsx");

const server = await createServer({ logLevel: "warn", server: { middlewareMode: true, ws: false, watch: null } });
try {
  const { ssr } = server.environments;
  if (!isRunnableDevEnvironment(ssr)) throw new Error("Vite's ssr environment cannot run modules.");
  const { renderSite } = await ssr.runner.import<Renderer>("/app/render.tsx");
  const context: RenderContext = {
    settings: parseBuildSettings(process.env).settings,
    scripts: { film: { code: "" }, contact: { url: "" } },
    electricityUrl: "/electricity.json",
    isSavingData: false,
  };
  const report = await checkSiteClaims(await renderSite(context));
  console.log("Looked for:");
  for (const { number, level, lookedFor } of RULES) console.log(`  ${number}. ${lookedFor} (${level})`);
  console.log(`\n${reportText(report)}`);
  console.log("A search for wording, and no legal advice: docs/claims.md says what it cannot see.");
  if (hasErrors(report)) process.exitCode = 1;
} finally {
  await server.close();
}
