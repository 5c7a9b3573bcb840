import { site } from "../site.ts";
import { HORIZON, markOf, RAYS } from "../styles/look.ts";

/** With `turns`, the rays of our own mark turn when the link around it is touched: see header.css. */
export function Mark({ turns = false }: { turns?: boolean }) {
  const mark = markOf(site.look);
  return (
    <svg className="mark" viewBox={mark.viewBox} width="40" height="40" aria-hidden="true">
      {turns && !site.look.mark ? <TurningRays /> : <path d={mark.ink} />}
      <path d={mark.accent} className="mark-sun" />
    </svg>
  );
}

/** The inner image ends above the horizon: turning rays set on one side and rise on the other. */
function TurningRays() {
  return (
    <>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the image around it is hidden from screen readers */}
      <svg height="29">
        <path d={RAYS} className="mark-rays" />
      </svg>
      <path d={HORIZON} />
    </>
  );
}
