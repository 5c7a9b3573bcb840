/** The film's picture as a pure function of its place in the loop. */

import { createProgram, createTexture, createVertices, glslColour, glslFloat, glslHeader } from "./gl.ts";
import { crestRanges, hillFragmentShader, hillLayers, hillProfiles, profileSamples } from "./hills.ts";
import { focalLength, heightPx, swayMetres, widthPx } from "./layout.ts";
import { noiseTable, noiseTableSize } from "./noise.ts";
import { panelAttributes, panelFragmentShader, panelMesh, panelVertexShader } from "./panels.ts";
import { glslSky, skyFragmentShader } from "./sky.ts";
import { placedTurbines, turbineFragmentShader } from "./turbines.ts";

/** One triangle over the whole picture; each pass is cut to its part by the scissor. */
const coverVertexShader = `
void main() {
  vec2 corner = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
`;

/** Last pass: grass close to the lens, then grading, vignette and dither from linear light to the canvas. */
const finishFragmentShader = `
uniform sampler2D uScene;
uniform float uSway;
out vec4 outColour;

/* Blades of grass too near for the lens: soft, dark, moving slowly. Returns their cover. */
float grass(vec2 p, float spacing, float tall, float blur, float shift, uint seed) {
  float x = p.x - shift;
  int cell = int(floor(x / spacing));
  float clear = 1.0;
  for (int i = -3; i <= 3; i++) {
    ivec2 id = ivec2(cell + i, 0);
    float chance = hash2(id, seed);
    float patchy = noise2(vec2(float(cell + i) * spacing * 3.1, 0.5), seed + 9u);
    // None in front of the panels.
    float open = 1.0 - smoothstep(0.72, 0.9, float(cell + i) * spacing);
    float height = tall * (0.35 + 0.65 * chance) * smoothstep(0.18, 0.75, patchy) * open;
    float up = (1.02 - p.y) / max(height, 1e-4);
    if (up > 1.25) continue;
    float lean = (hash2(id, seed + 1u) - 0.45) * 0.5;
    float wave = sin(TAU * (uPhase + hash2(id, seed + 2u) * 0.35 + x * 0.25)) * 0.045 * moving(x);
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

  if (p.y > 0.8 && p.x < 1.0) {
    vec3 blade = ${glslColour("#06201c")} + AMBER * 0.035 * exp(-abs(p.x - SUN.x) / 0.4);
    float back = grass(p, 0.016, 0.12, 0.0022, -uSway * ${glslFloat(focalLength)} / 22.0, 71u);
    float front = grass(p, 0.034, 0.17, 0.006, -uSway * ${glslFloat(focalLength)} / 11.0, 83u);
    colour = mix(colour, blade, back);
    colour = mix(colour, blade * 0.8, front);
  }

  // Shafts: the air between here and the hills shows where the light passes between clouds.
  vec2 fromSun = p - SUN;
  float bearing = atan(fromSun.x, -fromSun.y);
  float shaft = driftingNoise(vec2(bearing * 2.6, 2.0), vec2(0.3, 0.0), 3, 33u) - 0.5;
  float reach = exp(-length(fromSun) / 0.26) * smoothstep(0.02, 0.16, length(fromSun));
  colour *= 1.0 + 0.55 * shaft * reach;

  // Darker behind the page's text, which stands at the left and the top, and a little at the edges.
  float left = smoothstep(1.05, 0.0, p.x);
  colour *= 1.0 - 0.04 * left;
  colour *= 1.0 - 0.26 * smoothstep(0.2, 0.0, p.y);
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

type PassName = "sky" | "hill" | "turbine" | "panels" | "finish";

interface Scene {
  readonly gl: WebGL2RenderingContext;
  readonly passes: Readonly<Record<PassName, WebGLProgram>>;
  readonly panels: { readonly array: WebGLVertexArrayObject; readonly count: number };
  readonly crests: readonly { readonly top: number; readonly bottom: number }[];
  readonly target: WebGLFramebuffer;
  readonly textures: Readonly<Record<"profiles" | "noise" | "picture", WebGLTexture>>;
}

/** Prepares everything that does not change from frame to frame. Throws when WebGL 2 or float targets are missing. */
export function createScene(canvas: HTMLCanvasElement): Scene {
  canvas.width = widthPx;
  canvas.height = heightPx;
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, preserveDrawingBuffer: true });
  if (gl === null) throw new Error("WebGL 2 is not available in this browser.");
  if (gl.getExtension("EXT_color_buffer_float") === null) throw new Error("Float colour targets are not available.");

  const cover = glslHeader + coverVertexShader;
  const air = glslHeader + glslSky;
  const passes = {
    sky: createProgram(gl, cover, air + skyFragmentShader),
    hill: createProgram(gl, cover, air + hillFragmentShader),
    turbine: createProgram(gl, cover, air + turbineFragmentShader),
    panels: createProgram(gl, glslHeader + panelVertexShader, air + panelFragmentShader),
    finish: createProgram(gl, cover, air + finishFragmentShader),
  };

  const silhouettes = hillProfiles();
  const profiles = createTexture(gl);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG32F, profileSamples, hillLayers.length, 0, gl.RG, gl.FLOAT, silhouettes);
  const noise = createTexture(gl);
  const side = noiseTableSize;
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, side, side, 0, gl.RGBA, gl.FLOAT, noiseTable(1));
  // Half floats between the passes: eight bits would band before the dither could help.
  const picture = createTexture(gl);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA16F, widthPx, heightPx);
  const target = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, target);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, picture, 0);

  const panels = createVertices(gl, panelMesh(), panelAttributes);
  return { gl, passes, panels, crests: crestRanges(silhouettes), target, textures: { profiles, noise, picture } };
}

/** Limits drawing to a part of the picture given in picture coordinates. */
function within(gl: WebGL2RenderingContext, left: number, top: number, right: number, bottom: number): void {
  const clampTo = (limit: number, value: number) => Math.min(Math.max(value, 0), limit);
  const fromX = clampTo(widthPx, Math.floor(left * heightPx) - 2);
  const toX = clampTo(widthPx, Math.ceil(right * heightPx) + 2);
  const fromY = clampTo(heightPx, Math.floor(top * heightPx) - 2);
  const toY = clampTo(heightPx, Math.ceil(bottom * heightPx) + 2);
  gl.scissor(fromX, heightPx - toY, toX - fromX, toY - fromY);
}

/** Draws the frame at `phase` in [0, 1). The same phase always gives the same picture; phase 1 would equal phase 0. */
export function drawFrame(scene: Scene, phase: number): void {
  const { gl, passes, panels, crests, target, textures } = scene;
  const sway = Math.sin(phase * 2 * Math.PI) * swayMetres;
  const everywhere = widthPx / heightPx;

  const begin = (name: PassName) => {
    const pass = passes[name];
    const at = (uniform: string) => gl.getUniformLocation(pass, uniform);
    gl.useProgram(pass);
    gl.uniform1f(at("uPhase"), phase);
    gl.uniform2f(at("uSize"), widthPx, heightPx);
    gl.uniform1f(at("uSway"), sway);
    gl.uniform1i(at("uNoise"), 1);
    return at;
  };

  gl.viewport(0, 0, widthPx, heightPx);
  gl.bindFramebuffer(gl.FRAMEBUFFER, target);
  gl.activeTexture(gl.TEXTURE1);
  gl.bindTexture(gl.TEXTURE_2D, textures.noise);
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, textures.profiles);
  gl.enable(gl.SCISSOR_TEST);

  begin("sky");
  within(gl, 0, 0, everywhere, crests[0]?.bottom ?? 1);
  gl.drawArrays(gl.TRIANGLES, 0, 3);

  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  hillLayers.forEach((layer, index) => {
    const shift = (-sway * focalLength) / layer.distanceMetres;
    const turbineAt = begin("turbine");
    for (const { hill, stand, spin } of placedTurbines) {
      if (hill !== index) continue;
      const [footX, footY, hubY, blade] = stand;
      within(gl, footX - blade * 1.12, hubY - blade * 1.04, footX + blade * 1.12, footY);
      gl.uniform4f(turbineAt("uStand"), ...stand);
      gl.uniform3f(turbineAt("uSpin"), ...spin);
      gl.uniform1f(turbineAt("uShift"), shift);
      gl.uniform1f(turbineAt("uVeil"), layer.fog * 0.82);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    const hillAt = begin("hill");
    // Below the next hill's lowest crest point nothing of this one shows.
    within(gl, 0, crests[index]?.top ?? 0, everywhere, crests[index + 1]?.bottom ?? 1);
    gl.uniform1i(hillAt("uHill"), index);
    gl.uniform3f(hillAt("uAir"), layer.fog, layer.mist, shift);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  });

  within(gl, 0, 0, everywhere, 1);
  begin("panels");
  gl.bindVertexArray(panels.array);
  gl.drawArrays(gl.TRIANGLES, 0, panels.count);
  gl.bindVertexArray(null);
  gl.disable(gl.BLEND);

  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.bindTexture(gl.TEXTURE_2D, textures.picture);
  begin("finish");
  gl.drawArrays(gl.TRIANGLES, 0, 3);
}
