/** GLSL that every pass of the film begins with: constants, noise and the one way in which things drift and loop. */

import { aspect, glslFloat, horizonY, sun } from "./layout.ts";
import { noiseTableSize } from "./noise.ts";

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
   moment it jumps back. The travel is short against the pattern's features, so the two never look doubled. */
float driftingNoise(vec2 p, vec2 travel, int octaves, uint seed) {
  float first = fract(uPhase), second = fract(uPhase + 0.5);
  float share = 0.5 - 0.5 * cos(TAU * first);
  float a = fractal2(p - travel * (first - 0.5), octaves, seed);
  float b = fractal2(p - travel * (second - 0.5), octaves, seed);
  return mix(b, a, share);
}
`;
