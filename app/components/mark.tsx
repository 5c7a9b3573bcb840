import { site } from "../site.ts";
import type { Look } from "../site-schema.ts";

/** Our own mark: a rising sun over a horizon, with turbine blades for rays. All of it is within the view box. */
const RAYS =
  "M1.02 17.91c3.19-.46 7 .89 10.91 3.76a7.6 7.6 0 0 0-1.64 2.87c-3.59-1.34-7.33-3.67-9.27-6.63ZM20 6.5c1.9 2.6 2.5 6.6 1.8 11.4a7.6 7.6 0 0 0-3.3-.1c-.5-3.8-.2-8.2 1.5-11.3ZM38.98 17.91c-1.4 2.9-4.65 5.31-9.22 6.94a7.6 7.6 0 0 0-1.46-2.96c3.12-2.23 7.15-4.03 10.68-3.98Z";
const HORIZON = "M7.25 30.5h25.5a1.25 1.25 0 0 1 0 2.5h-25.5a1.25 1.25 0 0 1 0-2.5Z";
const OWN_MARK: NonNullable<Look["mark"]> = {
  viewBox: "0 0 40 40",
  ink: RAYS + HORIZON,
  accent: "M12.4 28a7.6 7.6 0 0 1 15.2 0Z",
};

export function markOf({ mark }: Look): NonNullable<Look["mark"]> {
  return mark ?? OWN_MARK;
}

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
