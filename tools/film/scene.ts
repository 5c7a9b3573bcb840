/** The film's picture as a pure function of its place in the loop. */

import { finishFragmentShader } from "./foreground.ts";
import { createProgram, createTexture, createVertices } from "./gl.ts";
import { glslHeader } from "./glsl.ts";
import { hillLayers } from "./hill-layers.ts";
import { crestRanges, hillFragmentShader, hillProfiles, profileSamples } from "./hills.ts";
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

type PassName = "sky" | "hill" | "turbine" | "panels" | "finish";

export interface Scene {
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
