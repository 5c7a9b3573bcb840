/** The hills, far to near: their outlines, what grows on them and how much air lies before them. */

/** Share of the picture's width, picture y, next share, next y and so on. */
export type Outline = readonly number[];

export interface HillLayer {
  /** Large shape, drawn by hand, or the brow of the slope. Noise only roughens it. */
  readonly outline: Outline | "slope";
  readonly seed: number;
  readonly roughHeight: number;
  readonly featuresAcross: number;
  /** 0 is rolling, 1 is worn rock. */
  readonly ridged: number;
  /** Tallest tree as picture height; 0 for bare ground. */
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
