/** Seeded noise for the parts of the scene that are computed once, before the first frame. */

/** A number in [0, 1) that depends only on `index` and `seed`. */
export function hash(index: number, seed: number): number {
  let state = (Math.imul(index | 0, 0x9e3779b1) ^ Math.imul(seed | 0, 0x85ebca6b)) >>> 0;
  state = Math.imul(state ^ (state >>> 16), 0x7feb352d);
  state = Math.imul(state ^ (state >>> 15), 0x846ca68b);
  return ((state ^ (state >>> 16)) >>> 0) / 4294967296;
}

/** Smooth noise in [-1, 1] with one feature per unit of `x`. */
export function noise(x: number, seed: number): number {
  const cell = Math.floor(x);
  const within = x - cell;
  const eased = within * within * within * (within * (within * 6 - 15) + 10);
  const left = (hash(cell, seed) * 2 - 1) * within;
  const right = (hash(cell + 1, seed) * 2 - 1) * (within - 1);
  return (left + (right - left) * eased) * 2;
}

/** Sums octaves of noise; `roughness` is how much of its strength each octave hands on to the next. */
export function fractalNoise(x: number, seed: number, octaves: number, roughness: number): number {
  let sum = 0;
  let strength = 1;
  let frequency = 1;
  for (let octave = 0; octave < octaves; octave += 1) {
    sum += noise(x * frequency, seed + octave * 17) * strength;
    strength *= roughness;
    // Not exactly 2, so that the octaves' cells never line up into a visible grid.
    frequency *= 2.03;
  }
  return sum;
}

/** Like `fractalNoise`, folded so that the crests are sharp and the valleys wide, as worn mountains are. */
export function ridgedNoise(x: number, seed: number, octaves: number, roughness: number): number {
  let sum = 0;
  let strength = 1;
  let frequency = 1;
  for (let octave = 0; octave < octaves; octave += 1) {
    sum += (0.5 - Math.abs(noise(x * frequency, seed + octave * 17))) * strength;
    strength *= roughness;
    frequency *= 2.07;
  }
  return sum;
}

/** Side of the square noise table; a power of two, so that it wraps by masking. */
export const noiseTableSize = 256;

/** RGBA table in which each texel holds its cell's four corner values, so that a shader reads a cell in one fetch. */
export function noiseTable(seed: number): Float32Array {
  const corner = (x: number, y: number) =>
    hash((y & (noiseTableSize - 1)) * noiseTableSize + (x & (noiseTableSize - 1)), seed);
  const table = new Float32Array(noiseTableSize * noiseTableSize * 4);
  for (let y = 0; y < noiseTableSize; y += 1) {
    for (let x = 0; x < noiseTableSize; x += 1) {
      const corners = [corner(x, y), corner(x + 1, y), corner(x, y + 1), corner(x + 1, y + 1)];
      table.set(corners, (y * noiseTableSize + x) * 4);
    }
  }
  return table;
}
