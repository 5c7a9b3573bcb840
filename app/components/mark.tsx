/** `light` and `dark` colour the browser's own bars; `ink` is also the background of icons that need one. */
export const MARK_COLOUR = { light: "#f8faf7", dark: "#0d1f1c", ink: "#12352f", amber: "#f2a93b" };

/** SVG path data of a rising sun over a horizon, with turbine blades for rays. All paths are within the view box. */
export const MARK = {
  viewBox: "-4 -5 40 40",
  sun: "M8.4 23a7.6 7.6 0 0 1 15.2 0Z",
  bladesAndHorizon:
    "M-2.98 12.91c3.19-.46 7 .89 10.91 3.76a7.6 7.6 0 0 0-1.64 2.87c-3.59-1.34-7.33-3.67-9.27-6.63ZM16 1.5c1.9 2.6 2.5 6.6 1.8 11.4a7.6 7.6 0 0 0-3.3-.1c-.5-3.8-.2-8.2 1.5-11.3ZM34.98 12.91c-1.4 2.9-4.65 5.31-9.22 6.94a7.6 7.6 0 0 0-1.46-2.96c3.12-2.23 7.15-4.03 10.68-3.98ZM3.25 25.5h25.5a1.25 1.25 0 0 1 0 2.5h-25.5a1.25 1.25 0 0 1 0-2.5Z",
};

export function Mark() {
  return (
    <svg className="mark" viewBox={MARK.viewBox} width="40" height="40" aria-hidden="true" focusable="false">
      <path d={MARK.bladesAndHorizon} />
      <path d={MARK.sun} className="mark-sun" />
    </svg>
  );
}
