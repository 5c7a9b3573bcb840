/** The sky: gradient, the sun's glow and disc, and cloud sheets. Also the colour of the air, which tints everything. */

import { glslColour } from "./gl.ts";

export const glslSky = `
const vec3 AMBER = ${glslColour("#f2a541")};
const vec3 PEACH = ${glslColour("#f6c89d")};
const vec3 MILK = ${glslColour("#a4d0c2")}; // between the dawn's warmth and the teal; amber alone would turn it to mud

/* The sun's light swells and fades a little, once and twice per loop. */
float breath() {
  return 1.0 + 0.045 * sin(TAU * uPhase) + 0.02 * sin(2.0 * TAU * uPhase + 1.3);
}

/* Where the page's text covers the picture nothing drifts: movement there would cost bits that nobody sees. */
float moving(float x) {
  return smoothstep(0.3, 0.62, x / ASPECT);
}

/* How far a point of the field is ahead of the glint, which crosses it once per loop and rests outside at both ends. */
float glintPlace(vec2 p) {
  return p.x + 0.55 * (p.y - HORIZON) - mix(0.62, ASPECT + 0.55, uPhase);
}

/* A cloud outside of the picture throws a shadow, which runs over the field ahead of the glint. */
float cloudShadow(vec2 p) {
  float shown = sin(0.5 * TAU * uPhase);
  return exp(-pow((glintPlace(p) - 0.24) / 0.13, 2.0)) * shown * shown;
}

/* How far the dawn has replaced the night's own colour. Adding amber to teal would only give khaki. */
float dawnShare(vec2 p) {
  vec2 d = (p - SUN) * vec2(0.6, 1.0);
  return exp(-dot(d, d) / 0.055);
}

/* Light scattered towards the eye around the sun: a tight core, a corona, a wide warm veil along the horizon. */
vec3 sunGlow(vec2 p) {
  vec2 d = p - SUN;
  float near = length(d * vec2(1.0, 1.15));
  float wide = length(d * vec2(0.6, 1.2));
  float core = exp(-near / 0.035);
  float corona = exp(-pow(near / 0.2, 1.25) * 1.3);
  float band = exp(-pow(length(d * vec2(0.42, 1.7)) / 0.24, 1.35) * 1.5);
  float veil = exp(-wide * wide / 0.08);
  return breath() * (PEACH * core * 0.6 + AMBER * corona * 0.98 + mix(AMBER, PEACH, 0.35) * band * 0.46
    + mix(MILK, PEACH, 0.4) * veil * 0.085);
}

/* Sky without clouds or disc. Below the horizon it continues as the colour of distant air. */
vec3 clearSky(vec2 p) {
  float height = max(HORIZON - p.y, 0.0) / HORIZON;
  vec3 zenith = ${glslColour("#0b2d2a")};
  vec3 middle = ${glslColour("#14504a")};
  vec3 low = ${glslColour("#468c85")};
  vec3 sky = mix(low, middle, smoothstep(0.0, 0.48, height));
  sky = mix(sky, zenith, smoothstep(0.3, 1.0, height));
  // Away from the sun the low sky is still night.
  float side = smoothstep(1.25, 0.05, abs(p.x - SUN.x));
  sky *= mix(mix(0.62, 1.0, smoothstep(0.1, 0.9, height)), 1.1, side * side * (3.0 - 2.0 * side));
  float peachBand = exp(-height * 6.0) * smoothstep(0.75, 0.0, abs(p.x - SUN.x - 0.12));
  sky += PEACH * peachBand * 0.16;
  return sky * (1.0 - 0.8 * dawnShare(p)) + sunGlow(p);
}

/* What distant air looks like in this direction. */
vec3 hazeColour(vec2 p) {
  vec3 cool = ${glslColour("#5d908b")};
  float side = smoothstep(1.35, 0.0, abs(p.x - SUN.x));
  vec3 air = cool * mix(0.5, 0.95, side * side) * (1.0 - 0.6 * dawnShare(p));
  return air + sunGlow(vec2(p.x, mix(p.y, SUN.y, 0.35))) * 0.85;
}

/* One sheet of cloud on a plane overhead, so that it flattens towards the horizon. */
float cloudSheet(vec2 p, vec2 scale, float travel, float cover, uint seed) {
  float lift = max(HORIZON + 0.05 - p.y, 0.0) + 0.07;
  vec2 onPlane = vec2((p.x - SUN.x) / lift, 1.0 / lift);
  float d = driftingNoise(onPlane * scale, vec2(travel * moving(p.x), 0.0), 5, seed);
  return smoothstep(cover, cover + 0.26, d);
}

vec3 skyWithClouds(vec2 p) {
  vec3 sky = clearSky(p);
  vec2 d = p - SUN;
  float discEdge = length(d) - SUN_RADIUS;
  float disc = smoothstep(0.0025, -0.0025, discEdge);
  sky += disc * vec3(1.5, 1.05, 0.5) * breath();

  vec2 toSun = normalize(-d + vec2(0.0, 0.02)) * 0.018;
  float fromSun = length(d * vec2(0.75, 1.0));
  float lowFade = smoothstep(HORIZON + 0.01, HORIZON - 0.09, p.y);

  float high = cloudSheet(p, vec2(0.34, 1.05), 0.16, 0.47, 11u);
  float highSunward = cloudSheet(p + toSun, vec2(0.34, 1.05), 0.16, 0.47, 11u);
  float veil = cloudSheet(p, vec2(0.12, 0.62), 0.07, 0.45, 57u);

  float lit = clamp((high - highSunward) * 2.2 + 0.28, 0.0, 1.0);
  vec3 shade = ${glslColour("#14403d")} * mix(0.55, 1.2, exp(-fromSun * 1.6));
  vec3 warm = mix(AMBER, PEACH, 0.3) * breath() * 1.15 * exp(-pow(fromSun / 0.27, 1.4) * 1.2);
  warm += MILK * 0.07 * exp(-fromSun / 0.5);
  vec3 body = shade + sky * 0.34 + warm * lit;
  sky = mix(sky, body, high * lowFade * 0.66);
  sky += (warm * 0.24 + hazeColour(p) * 0.03) * veil * lowFade;
  return sky;
}
`;

export const skyFragmentShader = `
out vec4 outColour;
void main() {
  vec2 p = vec2(gl_FragCoord.x, uSize.y - gl_FragCoord.y) / uSize.y;
  outColour = vec4(skyWithClouds(p), 1.0);
}
`;
