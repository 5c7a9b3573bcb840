/** The near slope, in metres around the camera: x to the right, y up from the eye, z ahead. It carries the panels. */

import { aspect, focalLength, horizonY } from "./layout.ts";
import { fractalNoise } from "./noise.ts";

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
