import { expect, test } from "vitest";
import { contentSecurityPolicy, drawingSecurityPolicy } from "./content-security-policy.ts";

const SETTINGS = { siteUrl: "https://www.example.com", apiBase: "", countriesUrl: "/countries.json" };

test("allows the page's own styles and scripts by hash, and nothing inline besides", () => {
  const policy = contentSecurityPolicy("<style>a{}</style><script type=module>b()</script>", SETTINGS, "own");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='");
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]+='/);
  expect(policy).not.toContain("unsafe");
});

test("follows the settings to other origins", () => {
  const settings = {
    ...SETTINGS,
    apiBase: "https://api.example.com/v1",
    countriesUrl: "https://countries.example/all",
  };
  const policy = contentSecurityPolicy("", settings, [{ url: "https://film.example/a.mp4", type: "video/mp4" }]);
  expect(policy).toContain("connect-src 'self' https://api.example.com https://countries.example;");
  expect(policy).toContain("form-action 'self' https://api.example.com;");
  expect(policy).toContain("media-src 'self' https://film.example;");
});

test("allows a drawing its own styles, and one without any nothing at all", () => {
  const nothing = drawingSecurityPolicy("<svg/>");
  expect(nothing).toBe("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  expect(drawingSecurityPolicy("<svg><style>a{}</style></svg>")).toBe(
    `${nothing}; style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='`,
  );
});
