import { site } from "virtual:site";
import { markOf } from "../styles/look.ts";

export function Mark() {
  const { viewBox, ink, accent } = markOf(site.look);
  return (
    <svg className="mark" viewBox={viewBox} width="40" height="40" aria-hidden="true">
      <path d={ink} />
      <path d={accent} className="mark-sun" />
    </svg>
  );
}
