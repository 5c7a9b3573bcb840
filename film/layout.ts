/**
 * Numbers that every part of the film shares. Picture coordinates have their origin at the top left, x runs from
 * 0 to `aspect` and y from 0 to 1, so one unit is always the picture's height.
 */

export const widthPx = 1920;
export const heightPx = 1080;
export const aspect = widthPx / heightPx;
export const loopSeconds = 10;
/** As in the cinema: at a few hundred kilobits, few clean frames look better than many ragged ones. */
export const framesPerSecond = 24;
export const frameCount = loopSeconds * framesPerSecond;

/** Eye level of the camera, as a picture y. Everything standing higher than the eye reaches above this line. */
export const horizonY = 0.615;
/** Distance from eye to picture plane in picture heights: a 47° vertical field of view. */
export const focalLength = 1.15;
/** Sideways travel of the camera at the ends of its sway. Small, because every moved pixel costs bits. */
export const swayMetres = 0.14;

export const sun = { x: 0.757 * aspect, y: 0.574, radius: 0.027 } as const;
