/** Hill silhouettes, computed once, and the GLSL that paints a hill with its haze, form and valley mist. */

import { type HillLayer, hillLayers, type Outline } from "./hill-layers.ts";
import { aspect, glslColour, glslFloat } from "./layout.ts";
import { fractalNoise, hash, ridgedNoise } from "./noise.ts";
import { browAt } from "./slope.ts";

/** The silhouettes reach this far past both picture edges, so that the sway never uncovers an end. */
const overhang = 0.1;
export const profileSamples = 4096;

/** Smooth curve through the outline's points. */
function outlineY(outline: Outline, share: number): number {
  const last = outline.length / 2 - 1;
  const at = (index: number): readonly [number, number] => {
    const place = 2 * Math.min(Math.max(index, 0), last);
    return [outline[place] ?? 0, outline[place + 1] ?? 0];
  };
  let index = 0;
  while (index < last - 1 && at(index + 1)[0] < share) index += 1;
  const [startX, startY] = at(index);
  const [endX, endY] = at(index + 1);
  const span = endX - startX;
  const slopeAt = (i: number) => (at(i + 1)[1] - at(i - 1)[1]) / (at(i + 1)[0] - at(i - 1)[0]);
  const u = (share - startX) / span;
  const square = u * u;
  const cube = square * u;
  return (
    startY * (2 * cube - 3 * square + 1) +
    endY * (3 * square - 2 * cube) +
    span * (slopeAt(index) * (cube - 2 * square + u) + slopeAt(index + 1) * (cube - square))
  );
}

/** Picture y of a layer's bare ground at a picture x. */
export function groundY(layer: HillLayer, x: number): number {
  const along = (x / aspect) * layer.featuresAcross;
  const rolling = fractalNoise(along, layer.seed, 7, 0.46);
  const worn = ridgedNoise(along, layer.seed + 5, 7, 0.5) * 1.3;
  const large = layer.outline === "slope" ? browAt(x).y : outlineY(layer.outline, x / aspect);
  return large - (rolling * (1 - layer.ridged) + worn * layer.ridged) * layer.roughHeight;
}

function addTrees(profile: Float32Array, layer: HillLayer, xOf: (sample: number) => number): void {
  const ground = profile.slice();
  const spacing = layer.treeHeight * 0.15;
  const count = Math.floor((aspect + 2 * overhang) / spacing);
  const samplesPerUnit = (profileSamples - 1) / (aspect + 2 * overhang);
  for (let tree = 0; tree < count; tree += 1) {
    const centre = (tree + hash(tree, layer.seed + 1)) * spacing * samplesPerUnit;
    // Woods stand in patches and thin out at their edges.
    const wood = fractalNoise(xOf(centre) * 4.2, layer.seed + 2, 3, 0.5) + 0.05;
    const size = 0.3 + 0.7 * hash(tree, layer.seed + 3) ** 1.6;
    const height = layer.treeHeight * size * Math.min(Math.max(wood * 3.2, 0), 1);
    if (height < layer.treeHeight * 0.12) continue;
    const halfWidth = height * (0.2 + 0.08 * hash(tree, layer.seed + 4)) * samplesPerUnit;
    const root = ground[Math.min(Math.max(Math.round(centre), 0), profileSamples - 1)] ?? 1;
    for (let sample = Math.max(Math.ceil(centre - halfWidth), 0); sample <= centre + halfWidth; sample += 1) {
      if (sample >= profileSamples) break;
      const taper = 1 - Math.abs(sample - centre) / halfWidth;
      profile[sample] = Math.min(profile[sample] ?? 1, root - height * taper ** 0.85);
    }
  }
}

/** All silhouettes as rows of one two-channel texture: picture y of the tree tops and of the ground below them. */
export function hillProfiles(): Float32Array {
  const all = new Float32Array(profileSamples * hillLayers.length * 2);
  const xOf = (sample: number) => (sample / (profileSamples - 1)) * (aspect + 2 * overhang) - overhang;
  hillLayers.forEach((layer, row) => {
    const ground = Float32Array.from({ length: profileSamples }, (_, sample) => groundY(layer, xOf(sample)));
    const crest = ground.slice();
    if (layer.treeHeight > 0) addTrees(crest, layer, xOf);
    crest.forEach((y, sample) => {
      all.set([y, ground[sample] ?? y], (row * profileSamples + sample) * 2);
    });
  });
  return all;
}

const layerCount = hillLayers.length;

export const hillFragmentShader = `
const int HILLS = ${layerCount};
uniform int uHill;
uniform vec3 uAir; // fog, mist, sideways shift
out vec4 outColour;
uniform sampler2D uProfiles;

/* Picture y of the crest and of the bare ground. */
vec2 profileAt(int layer, float x) {
  float at = clamp((x + ${overhang}) / (ASPECT + ${2 * overhang}), 0.0, 1.0) * ${glslFloat(profileSamples - 1)};
  int left = int(floor(at));
  vec2 a = texelFetch(uProfiles, ivec2(left, layer), 0).rg;
  vec2 b = texelFetch(uProfiles, ivec2(min(left + 1, ${profileSamples - 1}), layer), 0).rg;
  return mix(a, b, fract(at));
}

/* Mist that has gathered in the valley in front of a layer: none at its crest, thick at its foot. */
float mistAt(int layer, vec2 p, float below) {
  float nearness = float(layer) / float(HILLS - 1);
  vec2 scale = mix(vec2(3.4, 17.0), vec2(1.5, 8.0), nearness);
  float travel = mix(0.1, 0.3, nearness) * (layer % 2 == 0 ? 1.0 : 0.7);
  float wisps = driftingNoise(p * scale, vec2(travel, 0.0), 4, 400u + uint(layer) * 7u);
  float depth = smoothstep(0.0, mix(0.04, 0.11, nearness), below);
  // Banks with an upper edge of their own, not an even veil.
  float bank = smoothstep(0.3, 0.72, wisps + depth * 0.22);
  return uAir.y * depth * (0.25 + 0.9 * bank);
}

/* A hill's colour at p: \`fromEdge\` under its outline, \`below\` its ground line, whose slope is \`slope\`. */
vec3 hillColour(int layer, vec2 p, float fromEdge, float below, float slope) {
  vec3 ink = ${glslColour("#0b2a26")};
  vec2 at = vec2(p.x * 7.0 + below * 9.0, below * 26.0);
  // The near slope lies flat before us, so its tufts widen towards the camera.
  if (layer == HILLS - 1) at = vec2((p.x - ASPECT * 0.5) * 2.2, 1.7) / max(p.y - HORIZON, 0.05) * vec2(1.0, 2.0);
  float form = fractal2(at, 4, 900u + uint(layer) * 13u) - 0.5;
  vec3 ground = ink * (1.0 + (layer == HILLS - 1 ? 0.5 : 0.75) * form);
  vec3 haze = hazeColour(p);
  vec2 fromSun = p - SUN;
  float reach = exp(-length(fromSun * vec2(1.0, 0.7)) / 0.42);
  // Slopes that lean towards the sun take its colour; a thin edge of it runs along the crest.
  float facing = clamp(0.5 + slope * sign(-fromSun.x) * 1.6 + form * 0.9, 0.0, 1.0);
  ground += AMBER * reach * breath() * (0.1 * facing * exp(-below / 0.05) + 0.15 * exp(-fromEdge / 0.003));
  if (layer == HILLS - 1) {
    // Dew on the meadow: low light rakes over it towards us.
    ground += mix(AMBER, MILK, 0.5) * exp(-abs(fromSun.x) / 0.4) * exp(-below / 0.09) * (0.03 + 0.09 * form) * breath();
  }
  float air = uAir.x;
  float mist = mistAt(layer, p, below);
  vec3 mistColour = haze * 1.06 + MILK * 0.02;
  return mix(mix(ground, haze, air), mistColour, min(mist * (0.42 + 0.5 * air), 1.0));
}

void main() {
  vec2 p = vec2(gl_FragCoord.x, uSize.y - gl_FragCoord.y) / uSize.y - vec2(uAir.z, 0.0);
  float pixel = 1.0 / uSize.y;
  vec2 below = p.y - profileAt(uHill, p.x);
  float slope = (profileAt(uHill, p.x + pixel).x - profileAt(uHill, p.x - pixel).x) / (2.0 * pixel);
  float broadSlope = (profileAt(uHill, p.x + 0.02).y - profileAt(uHill, p.x - 0.02).y) / 0.04;
  float cover = clamp(0.5 + below.x / (pixel * sqrt(1.0 + slope * slope)), 0.0, 1.0);
  outColour = vec4(hillColour(uHill, p, max(below.x, 0.0), max(below.y, 0.0), broadSlope) * cover, cover);
}
`;

/** Highest and lowest picture y of each silhouette; nothing of a hill shows above the first. */
export function crestRanges(profiles: Float32Array): readonly { top: number; bottom: number }[] {
  return hillLayers.map((_, row) => {
    const heights = profiles.subarray(row * profileSamples * 2, (row + 1) * profileSamples * 2);
    return { top: Math.min(...heights), bottom: Math.max(...heights) };
  });
}
