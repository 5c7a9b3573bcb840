/** Wind turbines: where they stand, how they turn, and the GLSL that draws one with analytic edges. */

import { glslColour, glslFloat } from "./gl.ts";
import { groundY, hillLayers } from "./hills.ts";
import { aspect, framesPerSecond, loopSeconds } from "./layout.ts";

interface Turbine {
  /** Tower foot as a share of the picture's width. */
  readonly footShare: number;
  /** Index of the hill it stands on. */
  readonly hill: number;
  /** Blade length in picture heights; all else follows from it. */
  readonly blade: number;
  /** Thirds of a turn per loop. A whole number keeps the loop seamless because the rotor has three blades. */
  readonly thirdsPerLoop: number;
  readonly startTurn: number;
  readonly yawDegrees: number;
}

/** At ten seconds per loop, n thirds are 2n revolutions per minute: the largest turns at 8 rpm. */
const turbines: readonly Turbine[] = [
  { footShare: 0.699, hill: 5, blade: 0.238, thirdsPerLoop: 4, startTurn: 0.035, yawDegrees: 24 },
  { footShare: 0.893, hill: 4, blade: 0.118, thirdsPerLoop: 5, startTurn: 0.21, yawDegrees: 27 },
  { footShare: 0.604, hill: 3, blade: 0.066, thirdsPerLoop: 6, startTurn: 0.13, yawDegrees: 25 },
  { footShare: 0.966, hill: 3, blade: 0.058, thirdsPerLoop: 7, startTurn: 0.29, yawDegrees: 28 },
  { footShare: 0.8315, hill: 3, blade: 0.052, thirdsPerLoop: 7, startTurn: 0.07, yawDegrees: 24 },
  { footShare: 0.55, hill: 2, blade: 0.034, thirdsPerLoop: 7, startTurn: 0.25, yawDegrees: 26 },
  { footShare: 0.512, hill: 2, blade: 0.03, thirdsPerLoop: 6, startTurn: 0.02, yawDegrees: 26 },
  { footShare: 0.936, hill: 2, blade: 0.03, thirdsPerLoop: 7, startTurn: 0.17, yawDegrees: 25 },
  { footShare: 0.236, hill: 2, blade: 0.031, thirdsPerLoop: 6, startTurn: 0.11, yawDegrees: 26 },
  { footShare: 0.192, hill: 2, blade: 0.028, thirdsPerLoop: 7, startTurn: 0.31, yawDegrees: 25 },
];

/** Hub height over blade length of a large onshore machine. */
const towerPerBlade = 1.62;

const rows = turbines.map((turbine) => {
  const layer = hillLayers[turbine.hill];
  if (layer === undefined) throw new Error(`No hill ${turbine.hill} for the turbine at ${turbine.footShare}.`);
  const footX = turbine.footShare * aspect;
  const footY = groundY(layer, footX) + 0.004;
  const hubY = footY - turbine.blade * towerPerBlade;
  return { ...turbine, footX, footY, hubY, yaw: (turbine.yawDegrees * Math.PI) / 180 };
});

interface PlacedTurbine {
  readonly hill: number;
  /** Foot x, foot y, hub y, blade length. */
  readonly stand: readonly [number, number, number, number];
  /** Thirds of a turn per loop, start turn, yaw in radians. */
  readonly spin: readonly [number, number, number];
}

export const placedTurbines: readonly PlacedTurbine[] = rows.map((row) => ({
  hill: row.hill,
  stand: [row.footX, row.footY, row.hubY, row.blade],
  spin: [row.thirdsPerLoop, row.startTurn, row.yaw],
}));

export const turbineFragmentShader = `
uniform vec4 uStand; // foot x, foot y, hub y, blade length
uniform vec3 uSpin;  // thirds of a turn per loop, start turn, yaw
uniform float uShift;
uniform float uVeil; // share of it that the air hides
out vec4 outColour;

float edge(float distance, float softness) {
  return clamp(0.5 - distance / softness, 0.0, 1.0);
}

/* Chord of a blade on its leading and trailing side, at a share u of its length; in blade lengths. */
vec2 chordAt(float u) {
  float root = 0.017 * (1.0 - smoothstep(0.05, 0.2, u));
  float body = smoothstep(0.03, 0.2, u) * mix(1.0, 0.2, pow(clamp((u - 0.16) / 0.84, 0.0, 1.0), 0.8));
  float tip = sqrt(clamp((1.0 - u) / 0.035, 0.0, 1.0));
  return (vec2(root) + vec2(0.017, 0.05) * body) * tip;
}

/* Light on an edge, two pixels wide; narrower on a part whose half width is less. */
float rim(float fromEdge, float halfWidth) {
  float width = min(2.0 / uSize.y, halfWidth);
  return 0.8 * (1.0 - smoothstep(0.6 * width, 1.4 * width, fromEdge));
}

/* Paints over what has been drawn so far; colours are premultiplied by their cover. */
vec4 over(vec4 below, vec3 colour, float cover) {
  return vec4(colour * cover, cover) + below * (1.0 - cover);
}

void main() {
  vec2 p = vec2(gl_FragCoord.x, uSize.y - gl_FragCoord.y) / uSize.y;
  vec4 stand = uStand;
  vec3 spin = uSpin;
  float veil = uVeil;
  float blade = stand.w;
  float pixel = 1.0 / uSize.y;
  vec2 foot = vec2(stand.x + uShift, stand.y);
  float sine = sin(spin.z), cosine = cos(spin.z);
  // The rotor hangs in front of the tower, the nacelle reaches back over it; yaw swings both sideways.
  vec2 hub = vec2(foot.x - sine * 0.075 * blade, stand.z);
  vec2 d = p - hub;

  float sunSide = sign(SUN.x - foot.x);
  float reach = exp(-abs(SUN.x - foot.x) / 0.55);
  vec3 shade = ${glslColour("#14393a")};
  // Against the light the machine is seen from its shadow side: dark, with a warm rim on the sun's side.
  vec3 pale = ${glslColour("#9ab8b3")} * (1.0 - 0.62 * dawnShare(p)) * mix(0.28, 0.55, reach);
  vec3 warm = mix(PEACH, AMBER, 0.45) * breath();
  vec3 air = hazeColour(p);
  vec4 colour = vec4(0.0);

  // Tower: a tapered tube, lit from the sun's side; the light wraps a little way round.
  float down = clamp((p.y - stand.z) / (foot.y - stand.z), 0.0, 1.0);
  float halfWidth = blade * mix(0.0165, 0.033, down);
  float across = (p.x - foot.x) / halfWidth;
  float tower = edge(abs(p.x - foot.x) - halfWidth, pixel) * step(stand.z, p.y);
  float turned = across * sunSide;
  vec3 towerColour = mix(shade, pale, smoothstep(-0.9, 0.9, turned) * 0.42);
  towerColour += warm * reach * rim(halfWidth * (1.0 - turned), halfWidth);
  // Ground mist climbs the lowest part.
  float towerVeil = clamp(veil + 0.14 * smoothstep(0.8, 1.0, down), 0.0, 1.0);
  colour = over(colour, mix(towerColour, air, towerVeil), tower);

  // Nacelle: a rounded box over the tower top.
  vec2 box = d - vec2(sine * 0.085 * blade, -0.004 * blade);
  vec2 corner = abs(box) - vec2(0.032 + 0.075 * sine, 0.026) * blade;
  float nacelle = length(max(corner, 0.0)) + min(max(corner.x, corner.y), 0.0) - 0.008 * blade;
  vec3 nacelleColour = mix(pale * 0.62, shade, smoothstep(-0.03, 0.03, box.y / blade));
  nacelleColour += warm * reach * rim(-nacelle, 0.02 * blade) * smoothstep(0.04, 0.075, box.x * sunSide / blade);
  colour = over(colour, mix(nacelleColour, air, veil), edge(nacelle, pixel));

  // Rotor, in its own plane: yaw narrows it. Blades blur along their path while the shutter is open.
  vec2 q = vec2(d.x / cosine, d.y);
  float radius = length(q);
  float turn = spin.y * TAU + uPhase * spin.x * TAU / 3.0;
  float shutter = spin.x / 3.0 * TAU / ${glslFloat(loopSeconds * framesPerSecond)} * 0.5;
  float bearing = atan(q.x, -q.y) - turn;
  float third = TAU / 3.0;
  float blades = floor(bearing / third + 0.5);
  float within = bearing - blades * third;
  vec2 along = vec2(sin(within), cos(within)) * radius / blade; // x across the blade, y out along it
  float u = along.y;
  vec2 chord = chordAt(clamp(u, 0.0, 1.0));
  float bend = 0.022 * u * u; // swept back a little towards the tip
  float offset = along.x + bend;
  // Far blades are thinner than a pixel; a floor keeps them from breaking into dots.
  float halfChord = max(0.5 * (chord.x + chord.y), 0.5 * pixel / blade);
  float outside = abs(offset - 0.5 * (chord.x - chord.y)) - halfChord;
  float softness = pixel + radius * shutter;
  float rotor = edge(outside * blade, softness) * edge((u - 1.0) * blade, pixel) * step(0.0, u);
  // A thin blade softer than its own width must fade instead of growing.
  rotor *= min(1.0, (2.0 * halfChord * blade + pixel * 0.5) / (softness * 0.9));

  float bladeBearing = blades * third + turn;
  vec2 leading = vec2(cos(bladeBearing), sin(bladeBearing)); // picture direction in which this blade travels
  vec2 sunward = normalize(SUN - p);
  float catching = dot(leading, sunward);
  float section = clamp(offset / max(offset > 0.0 ? chord.x : chord.y, 1e-4), -1.0, 1.0);
  vec3 bladeColour = mix(shade, pale, 0.5 + 0.22 * catching - 0.2 * section * catching);
  float fromSunEdge = (catching > 0.0 ? chord.x - offset : chord.y + offset) * blade;
  bladeColour += warm * reach * smoothstep(0.0, 0.5, abs(catching)) * rim(fromSunEdge, halfChord * blade);
  colour = over(colour, mix(bladeColour, air, veil), rotor);

  // Spinner.
  float spinner = length(vec2(d.x / mix(1.0, cosine, 0.6), d.y)) - 0.03 * blade;
  vec3 spinnerColour = mix(shade, pale, 0.55 - 9.0 * d.y / blade);
  spinnerColour += warm * reach * rim(-spinner, 0.03 * blade) * smoothstep(0.0, 0.02, d.x * sunSide / blade);
  outColour = over(colour, mix(spinnerColour, air, veil), edge(spinner, pixel));
}
`;
