import { site } from "../site.ts";
import { markOf, OWN_MARK_PARTS } from "../styles/look.ts";

/** With `turns`, the rays of our own mark turn when the link around it is touched: see header.css. Once per page. */
export function Mark({ turns = false }: { turns?: boolean }) {
  const mark = markOf(site.look);
  return (
    <svg className="mark" viewBox={mark.viewBox} width="40" height="40" aria-hidden="true">
      {turns && !site.look.mark ? <TurningRays /> : <path d={mark.ink} />}
      <path d={mark.accent} className="mark-sun" />
    </svg>
  );
}

/** Below the horizon are two more rays, which rise when the others turn by 124 degrees. The inner image hides them. */
function TurningRays() {
  return (
    <>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the image around it is hidden from screen readers */}
      <svg height="29">
        <g className="mark-rays">
          <path id="rays" d={OWN_MARK_PARTS.rays} />
          <use href="#rays" transform="rotate(174 20 28)" />
        </g>
      </svg>
      <path d={OWN_MARK_PARTS.horizon} />
    </>
  );
}
