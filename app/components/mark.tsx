import { site } from "../site.ts";
import { markOf } from "../styles/look.ts";

export function Mark() {
  const mark = markOf(site.look);
  return (
    <svg className="mark" viewBox={mark.viewBox} width="40" height="40" aria-hidden="true" focusable="false">
      <path d={mark.ink} />
      <path d={mark.accent} className="mark-sun" />
    </svg>
  );
}
