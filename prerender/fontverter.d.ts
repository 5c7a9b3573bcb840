declare module "fontverter" {
  const fontverter: { convert(font: Buffer, target: "sfnt" | "woff" | "woff2"): Promise<Buffer> };
  export default fontverter;
}
