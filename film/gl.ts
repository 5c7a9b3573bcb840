/** WebGL set-up, the GLSL that every pass begins with, and how numbers and colours are written in GLSL. */

import { aspect, horizonY, sun } from "./layout.ts";
import { noiseTableSize } from "./noise.ts";

/** Compiles and links; throws with the compiler's message. */
export function createProgram(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(type);
    if (shader === null) throw new Error("The browser created no shader.");
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "shader");
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "link");
  return program;
}

/** A texture that is read texel by texel; left bound, so that the caller can fill it. */
export function createTexture(gl: WebGL2RenderingContext): WebGLTexture {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
    gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  }
  return texture;
}

/** A vertex array of floats whose attributes follow one another in the given sizes. */
export function createVertices(
  gl: WebGL2RenderingContext,
  data: Float32Array,
  sizes: readonly number[],
): { readonly array: WebGLVertexArrayObject; readonly count: number } {
  const floats = sizes.reduce((sum, size) => sum + size, 0);
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
  let offset = 0;
  sizes.forEach((size, location) => {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, gl.FLOAT, false, floats * 4, offset * 4);
    offset += size;
  });
  gl.bindVertexArray(null);
  return { array, count: data.length / floats };
}

/** Converts "#rrggbb" to a GLSL vec3 in linear light, so that all mixing happens in linear light. */
export function glslColour(hex: string): string {
  const channels = [1, 3, 5].map((start) => {
    const value = Number.parseInt(hex.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return `vec3(${channels.map((channel) => channel.toFixed(5)).join(", ")})`;
}

/** A GLSL float literal: GLSL rejects an integer where it expects a float. */
export function glslFloat(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : `${value}`;
}

/** Constants, noise, and the one function by which patterns drift and still loop. */
export const glslHeader = `#version 300 es
precision highp float;
precision highp int;

const float TAU = 6.28318530718;
const float ASPECT = ${glslFloat(aspect)};
const float HORIZON = ${glslFloat(horizonY)};
const vec2 SUN = vec2(${glslFloat(sun.x)}, ${glslFloat(sun.y)});
const float SUN_RADIUS = ${glslFloat(sun.radius)};

uniform float uPhase; // place in the loop, 0 to 1
uniform vec2 uSize;   // canvas size in pixels
uniform sampler2D uNoise;

uint scramble(uint state) {
  state ^= state >> 16; state *= 0x7feb352du;
  state ^= state >> 15; state *= 0x846ca68bu;
  return state ^ (state >> 16);
}

float hash2(ivec2 cell, uint seed) {
  uint state = scramble(uint(cell.x) * 0x9e3779b1u + seed);
  return float(scramble(state ^ (uint(cell.y) * 0x85ebca6bu)) >> 8) / 16777216.0;
}

/* Smooth noise in 0..1. The table holds the four corners of every cell, so one fetch is enough. */
float noise2(vec2 p, uint seed) {
  ivec2 cell = ivec2(floor(p)) + ivec2(seed * 37u, seed * 61u);
  vec2 f = fract(p);
  vec2 e = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
  vec4 corners = texelFetch(uNoise, cell & ${noiseTableSize - 1}, 0);
  vec2 sides = mix(corners.xz, corners.yw, e.x);
  return mix(sides.x, sides.y, e.y);
}

float fractal2(vec2 p, int octaves, uint seed) {
  float sum = 0.0, strength = 0.5, total = 0.0;
  for (int i = 0; i < octaves; i++) {
    sum += noise2(p, seed + uint(i) * 101u) * strength;
    total += strength;
    strength *= 0.5;
    p = mat2(1.62, 1.18, -1.18, 1.62) * p + 3.7; // turned, so that no axis shows
  }
  return sum / total;
}

/* A pattern that drifts for ever and still loops: the same pattern twice, half a loop apart, each invisible at the
   moment it jumps back. The travel is short beside the pattern's features, so the two never look doubled. */
float driftingNoise(vec2 p, vec2 travel, int octaves, uint seed) {
  if (travel == vec2(0.0)) return fractal2(p, octaves, seed);
  float first = fract(uPhase), second = fract(uPhase + 0.5);
  float share = 0.5 - 0.5 * cos(TAU * first);
  float a = fractal2(p - travel * (first - 0.5), octaves, seed);
  float b = fractal2(p - travel * (second - 0.5), octaves, seed);
  return mix(b, a, share);
}
`;
