/** The solar field: tables of modules standing in rows on the near slope, as a mesh, and the GLSL that shades them. */

import { glslColour, glslFloat } from "./gl.ts";
import { browAt, onPicture, slopeHeight } from "./hills.ts";
import { aspect, focalLength, heightPx } from "./layout.ts";
import { hash } from "./noise.ts";

/** We look east into the dawn, so rows that face south run almost straight away from us and lean to the right. */
const rowBearing = (17 * Math.PI) / 180;
const tilt = (-15 * Math.PI) / 180;
const tableLength = 12.4;
const tableGap = 0.55;
const chordMetres = 4.2;
const rowPitch = 7.3;
const postHeight = 1.35;
const shadowKind = 0;
const tableKind = 1;
const postKind = 2;

const along = { x: Math.sin(rowBearing), z: Math.cos(rowBearing) } as const;
const across = { x: Math.cos(rowBearing), z: -Math.sin(rowBearing) } as const;

/** Floats per vertex: place, corner in metres along and across the table, half its size, lean and kind. */
export const panelAttributes = [3, 2, 2, 2] as const;

/** Triangles, far tables first, so that painting them in order hides what is behind. */
export function panelMesh(): Float32Array {
  const tables: { readonly depth: number; readonly vertices: readonly number[] }[] = [];
  for (let row = -9; row <= 16; row += 1) {
    // Row ends are staggered, as a real field follows its fence line.
    const firstTable = 18 + hash(row, 77) * 7;
    for (let column = 0; column < 9; column += 1) {
      const middle = firstTable + column * (tableLength + tableGap) + tableLength / 2;
      const x = across.x * row * rowPitch + along.x * middle + 1.5;
      const z = across.z * row * rowPitch + along.z * middle;
      if (z < 20) continue;
      const seen = onPicture(x, z);
      const end = onPicture(x + along.x * tableLength * 0.5, z + along.z * tableLength * 0.5);
      const brow = browAt(end.x);
      // The page's text stands at the lower left, so the field leaves that free.
      if (seen.x < (0.505 + (seen.y - 0.76) * 0.2) * aspect) continue;
      if (z + tableLength * 0.5 > brow.z - 3 || seen.x < -0.3 || seen.x > aspect + 0.4 || seen.y > 1.5) continue;
      tables.push({ depth: z, vertices: tableVertices(x, z, hash(row * 64 + column, 79)) });
    }
  }
  tables.sort((a, b) => b.depth - a.depth);
  return new Float32Array(tables.flatMap((table) => table.vertices));
}

/** One table with its shadow and posts, in the order in which they cover each other. */
function tableVertices(x: number, z: number, lean: number): number[] {
  const half = tableLength / 2;
  const rise =
    slopeHeight(x + along.x * half, z + along.z * half) - slopeHeight(x - along.x * half, z - along.z * half);
  const centre = slopeHeight(x, z);
  const ground = (s: number) => centre + (rise * s) / tableLength;
  const quad = (a: number[], b: number[], c: number[], d: number[]) => [...a, ...b, ...c, ...a, ...c, ...d];

  const flatCorner = (kind: number, s: number, c: number): number[] => {
    const isTable = kind === tableKind;
    const level = isTable ? c * Math.cos(tilt) : c;
    // The sun stands low ahead, so shadows fall towards the camera.
    const fall = isTable ? 0 : -2.2;
    const height = isTable ? postHeight + c * Math.sin(tilt) : 0.02;
    const px = x + along.x * s + across.x * level;
    const pz = z + along.z * s + across.z * level + fall;
    return [px, ground(s) + height, pz, s, c, half, chordMetres / 2, lean, kind];
  };
  const flat = (kind: number, growthAlong: number, growthAcross: number) => {
    const s = half + growthAlong;
    const c = chordMetres / 2 + growthAcross;
    return quad(flatCorner(kind, -s, -c), flatCorner(kind, s, -c), flatCorner(kind, s, c), flatCorner(kind, -s, c));
  };

  const post = (s: number, c: number): number[] => {
    const halfWidth = 0.08;
    const px = x + along.x * s + across.x * c;
    const pz = z + along.z * s + across.z * c;
    const top = postHeight + c * Math.sin(tilt);
    const corner = (side: number, up: number) => [
      px + side * halfWidth * 2,
      ground(s) + top * up,
      pz,
      side * halfWidth * 2,
      up,
      halfWidth,
      1,
      lean,
      postKind,
    ];
    return quad(corner(-1, 0), corner(1, 0), corner(1, 1), corner(-1, 1));
  };
  const posts = [0.82, 0, -0.82].flatMap((share) => [...post(share * half, 1.3), ...post(share * half, -1.3)]);
  // Each quad is a pixel larger than its table, so that the shader has room for a soft edge. Seen from so low, a pixel
  // spans far more metres along the row than across it.
  const pixelAcross = z / (focalLength * heightPx);
  const pixelAlong = (pixelAcross * z) / 10;
  return [...flat(shadowKind, 1.2, 1.2), ...posts, ...flat(tableKind, pixelAlong * 1.2, pixelAcross * 1.6)];
}

export const panelVertexShader = `
layout(location = 0) in vec3 aPlace;
layout(location = 1) in vec2 aCorner;
layout(location = 2) in vec2 aHalf;
layout(location = 3) in vec2 aLeanKind;
uniform float uSway;
out vec3 vPlace;
out vec2 vCorner;
flat out vec2 vHalf;
flat out vec2 vLeanKind;
void main() {
  vPlace = aPlace; vCorner = aCorner; vHalf = aHalf; vLeanKind = aLeanKind;
  vec2 picture = vec2(ASPECT * 0.5 * aPlace.z + ${glslFloat(focalLength)} * (aPlace.x - uSway),
                      HORIZON * aPlace.z - ${glslFloat(focalLength)} * aPlace.y);
  gl_Position = vec4(picture.x / ASPECT * 2.0 - aPlace.z, aPlace.z - picture.y * 2.0, 0.0, aPlace.z);
}
`;

export const panelFragmentShader = `
in vec3 vPlace;
in vec2 vCorner;
flat in vec2 vHalf;
flat in vec2 vLeanKind;
out vec4 outColour;

/* Share of a pixel that a line of this width covers, for lines one unit apart. Fades with distance. */
float gridLine(float at, float width) {
  float pixel = max(fwidth(at), 1e-4);
  float away = abs(fract(at + 0.5) - 0.5);
  float seen = clamp((width * 0.5 + pixel * 0.5 - away) / pixel, 0.0, min(1.0, width / pixel));
  return mix(seen, width, smoothstep(0.35, 0.9, pixel));
}

void main() {
  vec2 pixel = max(fwidth(vCorner), vec2(1e-4));
  vec2 inside = vHalf - abs(vCorner);
  vec2 p = vec2(gl_FragCoord.x, uSize.y - gl_FragCoord.y) / uSize.y;
  float depthAir = 1.0 - exp(-max(vPlace.z - 30.0, 0.0) / 520.0);

  if (vLeanKind.y < ${shadowKind + 0.5}) {
    vec2 soft = smoothstep(vec2(-1.1), vec2(1.2), inside);
    outColour = vec4(${glslColour("#04120f")}, 1.0) * soft.x * soft.y * 0.72;
    return;
  }
  if (vLeanKind.y > ${postKind - 0.5}) {
    float seen = clamp(inside.x / pixel.x + 0.5, 0.0, 1.0) * min(1.0, vHalf.x * 2.0 / pixel.x);
    outColour = vec4(${glslColour("#0d2926")} + AMBER * 0.02, 1.0) * seen;
    return;
  }

  vec2 cover = clamp(inside / pixel + 0.5, 0.0, 1.0);
  float coverage = cover.x * cover.y;

  // Glass mirrors the sky. Each table's own small lean makes neighbours differ, as in a real field.
  float lean = (vLeanKind.x - 0.5);
  vec3 rowAlong = vec3(${glslFloat(along.x)}, 0.0, ${glslFloat(along.z)});
  vec3 rowAcross = vec3(${glslFloat(across.x * Math.cos(tilt))}, ${glslFloat(Math.sin(tilt))}, ${glslFloat(across.z * Math.cos(tilt))});
  vec3 normal = normalize(cross(rowAcross, rowAlong) + vec3(lean * 0.03, 0.0, lean * 0.02));
  if (normal.y < 0.0) normal = -normal;
  vec3 ray = normalize(vPlace);
  vec3 mirrored = reflect(ray, normal);
  float facing = clamp(dot(-ray, normal), 0.0, 1.0);
  float fresnel = 0.04 + 0.96 * pow(1.0 - facing, 5.0);
  vec2 seen = vec2(ASPECT * 0.5 + ${glslFloat(focalLength)} * mirrored.x / max(mirrored.z, 0.25),
                   HORIZON - ${glslFloat(focalLength)} * max(mirrored.y, 0.0) / max(mirrored.z, 0.25));
  vec3 sky = clearSky(clamp(seen, vec2(-0.2, -0.6), vec2(ASPECT + 0.4, HORIZON)));

  vec3 glass = ${glslColour("#0c2d36")} * 0.75 + sky * fresnel * 0.5;

  // Modules, 1.1 m by 2.15 m, each with its frame.
  float frame = max(gridLine(vCorner.x / 1.1, 0.05), gridLine(vCorner.y / 2.15, 0.035));
  vec3 metal = ${glslColour("#4a6f6c")} * 0.4 + sky * 0.2;
  vec3 colour = mix(glass, metal, frame * 0.7);

  // The upper edge of every table catches the dawn; its lower edge is dark thickness.
  float rimHigh = (1.0 - smoothstep(0.0, 0.07 + pixel.y, vCorner.y + vHalf.y)) * min(1.0, 0.25 / pixel.y);
  float rimEnd = (1.0 - smoothstep(0.0, 0.07 + pixel.x, vHalf.x - vCorner.x)) * min(1.0, 0.3 / pixel.x);
  float rimLow = 1.0 - smoothstep(0.0, 0.1 + pixel.y, vHalf.y - vCorner.y);
  float sunward = exp(-abs(p.x - SUN.x) / 0.6);
  colour = mix(colour, ${glslColour("#071a1a")}, rimLow * 0.7);
  colour += mix(AMBER, PEACH, 0.5) * breath() * max(rimHigh, rimEnd) * 0.3 * sunward;

  // The cloud's shadow crosses the field once per loop, and the glint follows where the sun comes out again.
  colour *= 1.0 - 0.5 * cloudShadow(p);
  float behind = glintPlace(p) + lean * 0.05;
  float band = exp(-pow(behind / 0.075, 2.0));
  float halo = exp(-pow(behind / 0.2, 2.0));
  float heart = exp(-pow(behind / 0.026, 2.0));
  vec3 flare = mix(AMBER, PEACH, 0.3) * (band * 0.62 + halo * 0.14) + PEACH * heart * 0.6;
  colour += flare * (1.0 - frame * 0.6);

  colour = mix(colour, hazeColour(p), depthAir);
  outColour = vec4(colour * coverage, coverage);
}
`;
