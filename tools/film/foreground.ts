/** Last pass: grass close to the lens, then grading, vignette and dither from linear light to the canvas. */

import { focalLength, glslColour, glslFloat } from "./layout.ts";

export const finishFragmentShader = `
uniform sampler2D uScene;
uniform float uSway;
out vec4 outColour;

/* Blades of grass far inside the lens's near limit: soft, dark, moving slowly. Returns their cover. */
float grass(vec2 p, float spacing, float tall, float blur, float shift, uint seed) {
  float x = p.x - shift;
  int cell = int(floor(x / spacing));
  float clear = 1.0;
  for (int i = -3; i <= 3; i++) {
    ivec2 id = ivec2(cell + i, 0);
    float chance = hash2(id, seed);
    float patchy = noise2(vec2(float(cell + i) * spacing * 3.1, 0.5), seed + 9u);
    float height = tall * (0.35 + 0.65 * chance) * smoothstep(0.18, 0.75, patchy);
    float up = (1.02 - p.y) / max(height, 1e-4);
    if (up > 1.25) continue;
    float lean = (hash2(id, seed + 1u) - 0.45) * 0.5;
    float wave = sin(TAU * (uPhase + hash2(id, seed + 2u) * 0.35 + x * 0.25)) * 0.045;
    float root = (float(cell + i) + hash2(id, seed + 4u)) * spacing;
    float centre = root + height * (lean * up + (lean + wave) * up * up);
    float width = spacing * 0.2 * sqrt(clamp(1.05 - up, 0.0, 1.0));
    float cover = (1.0 - smoothstep(width - blur, width + blur, abs(x - centre))) * min(1.0, width / blur * 0.9);
    clear *= 1.0 - cover * smoothstep(1.2, 0.85, up);
  }
  return 1.0 - clear;
}

/* Linear up to the shoulder, then bending so that the sun's heart keeps its colour. */
vec3 grade(vec3 c) {
  const float shoulder = 0.55;
  vec3 over = max(c - shoulder, 0.0);
  return min(c, shoulder) + (1.0 - shoulder) * (1.0 - exp(-over / (1.0 - shoulder)));
}

vec3 encode(vec3 c) {
  return mix(c * 12.92, 1.055 * pow(max(c, 0.0031308), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}

void main() {
  vec2 p = vec2(gl_FragCoord.x, uSize.y - gl_FragCoord.y) / uSize.y;
  vec3 colour = texelFetch(uScene, ivec2(gl_FragCoord.xy), 0).rgb;

  if (p.y > 0.8) {
    vec3 blade = ${glslColour("#06201c")} + AMBER * 0.035 * exp(-abs(p.x - SUN.x) / 0.4);
    float back = grass(p, 0.016, 0.12, 0.0022, -uSway * ${glslFloat(focalLength)} / 22.0, 71u);
    float front = grass(p, 0.034, 0.17, 0.006, -uSway * ${glslFloat(focalLength)} / 11.0, 83u);
    colour = mix(colour, blade, back * 0.75);
    colour = mix(colour, blade * 0.8, front * 0.85);
  }

  // Shafts: the air between here and the hills shows where the light passes between clouds.
  vec2 fromSun = p - SUN;
  float bearing = atan(fromSun.x, -fromSun.y);
  float shaft = driftingNoise(vec2(bearing * 2.6, 2.0), vec2(0.3, 0.0), 3, 33u) - 0.5;
  float reach = exp(-length(fromSun) / 0.26) * smoothstep(0.02, 0.16, length(fromSun));
  colour *= 1.0 + 0.55 * shaft * reach;

  // Quiet where words stand: the left and the top sink a little, the picture's edges too.
  float left = smoothstep(1.05, 0.0, p.x);
  colour *= 1.0 - 0.22 * left;
  colour *= 1.0 - 0.3 * smoothstep(0.2, 0.0, p.y);
  colour *= 1.0 - 0.16 * smoothstep(1.25, 1.75, p.x) * smoothstep(0.2, 0.9, abs(p.y - 0.5) * 2.0);

  // Split toning: whatever is dim leans to teal, so that the amber stays with the sun.
  float light = dot(colour, vec3(0.2126, 0.7152, 0.0722));
  colour *= mix(vec3(1.0), vec3(0.74, 1.0, 1.0), smoothstep(0.3, 0.04, light));

  vec3 shown = encode(grade(colour));
  // Triangular dither of one step hides the steps of eight bits. It stands still, so that it costs few bits.
  ivec2 cell = ivec2(gl_FragCoord.xy);
  float dither = hash2(cell, 5u) + hash2(cell, 6u) - 1.0;
  outColour = vec4(shown + dither / 255.0, 1.0);
}
`;
