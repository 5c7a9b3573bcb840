/**
 * The hills: their layers from far to near, the near slope that carries the panels, their silhouettes (computed once), and
 * the GLSL that paints a hill with its haze, form and valley mist.
 */

import { glslColour, glslFloat } from "./gl.ts";
import { aspect, focalLength, horizonY } from "./layout.ts";
import { fractalNoise, hash, ridgedNoise } from "./noise.ts";

/** Share of the picture's width, picture y, next share, next y and so on. */
type Outline = readonly number[];

interface HillLayer {
  /** Large shape, drawn by hand, or the brow of the slope. Noise only roughens it. */
  readonly outline: Outline | "slope";
  readonly seed: number;
  readonly roughHeight: number;
  readonly featuresAcross: number;
  /** 0 is rolling, 1 is worn rock. */
  readonly ridged: number;
  /** Tallest tree in picture heights; 0 for none. */
  readonly treeHeight: number;
  /** Share of the view that air hides, before any mist. */
  readonly fog: number;
  readonly mist: number;
  readonly distanceMetres: number;
}

/** Far to near. The last is the slope that carries the solar field. */
export const hillLayers: readonly HillLayer[] = [
  {
    outline: [0, 0.575, 0.16, 0.545, 0.34, 0.578, 0.5, 0.566, 0.64, 0.59, 0.76, 0.603, 0.86, 0.578, 1, 0.55],
    seed: 3,
    roughHeight: 0.03,
    featuresAcross: 7,
    ridged: 0.85,
    treeHeight: 0,
    fog: 0.86,
    mist: 0.5,
    distanceMetres: 14000,
  },
  {
    outline: [0, 0.586, 0.13, 0.606, 0.3, 0.585, 0.46, 0.603, 0.62, 0.6, 0.78, 0.618, 0.9, 0.603, 1, 0.592],
    seed: 29,
    roughHeight: 0.022,
    featuresAcross: 8,
    ridged: 0.6,
    treeHeight: 0,
    fog: 0.74,
    mist: 0.6,
    distanceMetres: 8000,
  },
  {
    outline: [0, 0.63, 0.18, 0.612, 0.36, 0.634, 0.52, 0.618, 0.68, 0.638, 0.8, 0.636, 0.92, 0.618, 1, 0.61],
    seed: 71,
    roughHeight: 0.018,
    featuresAcross: 9,
    ridged: 0.4,
    treeHeight: 0.002,
    fog: 0.6,
    mist: 0.7,
    distanceMetres: 4200,
  },
  {
    outline: [0, 0.64, 0.12, 0.655, 0.3, 0.668, 0.46, 0.648, 0.6, 0.652, 0.74, 0.668, 0.88, 0.652, 1, 0.645],
    seed: 113,
    roughHeight: 0.016,
    featuresAcross: 8,
    ridged: 0.25,
    treeHeight: 0.005,
    fog: 0.45,
    mist: 0.75,
    distanceMetres: 2300,
  },
  {
    outline: [0, 0.69, 0.2, 0.672, 0.38, 0.7, 0.54, 0.705, 0.7, 0.69, 0.84, 0.682, 0.93, 0.672, 1, 0.676],
    seed: 157,
    roughHeight: 0.014,
    featuresAcross: 6,
    ridged: 0.15,
    treeHeight: 0.009,
    fog: 0.27,
    mist: 0.7,
    distanceMetres: 1200,
  },
  {
    outline: [0, 0.725, 0.16, 0.748, 0.34, 0.765, 0.5, 0.752, 0.62, 0.722, 0.7, 0.712, 0.82, 0.728, 1, 0.752],
    seed: 211,
    roughHeight: 0.008,
    featuresAcross: 5,
    ridged: 0.05,
    treeHeight: 0,
    fog: 0.12,
    mist: 0.5,
    distanceMetres: 480,
  },
  {
    outline: [0, 0.775, 0.14, 0.79, 0.3, 0.83, 0.46, 0.848, 0.6, 0.83, 0.8, 0.81, 1, 0.8],
    seed: 263,
    roughHeight: 0.01,
    featuresAcross: 5,
    ridged: 0,
    treeHeight: 0.02,
    fog: 0.05,
    mist: 0.34,
    distanceMetres: 210,
  },
  {
    outline: "slope",
    seed: 307,
    roughHeight: 0.0012,
    featuresAcross: 40,
    ridged: 0,
    treeHeight: 0,
    fog: 0.02,
    mist: 0,
    distanceMetres: 95,
  },
];

// The near slope is in metres around the camera: x to the right, y up from the eye, z ahead.

const eyeHeightMetres = 11.8;
/** Beyond this distance the slope bends down and ends in a brow. */
const bendStartMetres = 60;
const bendRadiusMetres = 300;

/** Height of the ground relative to the eye. It climbs to the right and rolls a little, as meadows do. */
export function slopeHeight(x: number, z: number): number {
  const roll = fractalNoise(x / 48 + 9.3, 901, 2, 0.4) * 0.9 + fractalNoise(z / 70 + 4.1, 905, 2, 0.4) * 0.9;
  const bend = Math.max(z - bendStartMetres, 0) ** 2 / (2 * bendRadiusMetres);
  return -eyeHeightMetres + x * 0.055 + roll - bend;
}

/** Where a point on the ground appears in the picture. */
export function onPicture(x: number, z: number): { readonly x: number; readonly y: number } {
  return { x: aspect / 2 + (focalLength * x) / z, y: horizonY - (focalLength * slopeHeight(x, z)) / z };
}

/** The brow of the slope at a picture x: how high it reaches in the picture and how far away it is. */
export function browAt(pictureX: number): { readonly y: number; readonly z: number } {
  let brow = { y: 2, z: 0 };
  for (let z = 24; z <= 190; z += 1) {
    const { y } = onPicture(((pictureX - aspect / 2) * z) / focalLength, z);
    if (y < brow.y) brow = { y, z };
  }
  return brow;
}

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
  float wisps = driftingNoise(p * scale, vec2(travel * moving(p.x), 0.0), 4, 400u + uint(layer) * 7u);
  float depth = smoothstep(0.0, mix(0.04, 0.11, nearness), below);
  // Banks with an upper edge of their own, not an even veil.
  float bank = smoothstep(0.3, 0.72, wisps + depth * 0.22);
  return uAir.y * depth * (0.25 + 0.9 * bank);
}

/* A hill's colour at p, \`fromEdge\` under its outline, \`below\` under a ground line of slope \`slope\`. */
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
  if (layer == HILLS - 1) ground *= 1.0 - 0.35 * cloudShadow(p);
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
