/** `light` and `dark` colour the browser's own bars; `ink` is also the background of icons that need one. */
export const MARK_COLOUR = { light: "#f8faf7", dark: "#0d1f1c", ink: "#12352f", amber: "#f2a93b" };

/** A rising sun whose rays are turbine blades; on a 32 unit grid, in one colour. */
const BLADE = "M16 1.5c1.9 2.6 2.5 6.6 1.8 11.4a7.6 7.6 0 0 0-3.3-.1C14 9 14.300 4.600 16 1.500Z";
export const MARK_SHAPES = {
  sun: "M8.400 23a7.600 7.600 0 0 1 15.200 0Z",
  horizon: "M3.250 25.500h25.500a1.250 1.250 0 0 1 0 2.500h-25.500a1.250 1.250 0 0 1 0-2.500Z",
  blade: BLADE,
  /** Degrees around the sun's centre. */
  bladeTurns: [-62, 0, 62],
  centre: "16 23",
};

export function Mark() {
  const { sun, horizon, blade, bladeTurns, centre } = MARK_SHAPES;
  return (
    <svg className="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">
      {bladeTurns.map((turn) => (
        <path key={turn} d={blade} transform={`rotate(${turn} ${centre})`} />
      ))}
      <path d={sun} className="mark-sun" />
      <path d={horizon} />
    </svg>
  );
}
