import { site } from "virtual:site";
import "./styles.css";
import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import { Alert, Button, Checkbox, createTheme, defaultVariantColorsResolver, MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { followChanges, obtainToken, queryClient } from "./api.ts";
import { NoAccess, router } from "./app.tsx";
import { keepUnsaved } from "./draft.ts";

const theme = createTheme({
  defaultRadius: "md",
  focusRing: "never",
  components: {
    Alert: Alert.extend({ defaultProps: { variant: "light", role: "note" } }),
    Button: Button.extend({
      defaultProps: { variant: "default" },
      // Long labels, and large text on a phone, wrap to a second line. Descenders are not cut.
      styles: {
        root: { height: "auto", paddingInline: "var(--button-edge, 0.75rem)" },
        inner: { height: "auto", minHeight: "calc(var(--button-height) - 2px)" },
        label: { overflow: "visible", whiteSpace: "normal" },
      },
    }),
    Checkbox: Checkbox.extend({ defaultProps: { size: "md", iconColor: "var(--on-accent)" } }),
  },
  variantColorResolver: (input) => ({
    ...defaultVariantColorsResolver(input),
    ...(input.variant === "filled" && input.color !== "red" && { color: "var(--on-accent)" }),
  }),
});

/** The Mantine colours that each of the site's variables replaces. Blue is Mantine's primary colour. */
const COLORS = {
  surface: ["body", "default", "dark-6"],
  ink: ["text", "bright", "black", "default-color", "blue-light-color"],
  "ink-soft": ["dimmed", "placeholder", "disabled-color", "gray-light-color"],
  control: ["default-border", "gray-4", "dark-4"],
  mist: ["default-hover", "disabled", "blue-light-hover", "gray-light"],
  accent: ["blue-filled"],
  "accent-bright": ["blue-filled-hover"],
  danger: ["error", "red-outline", "red-light-color", "red-text"],
  "danger-ground": ["red-outline-hover", "red-light"],
  "danger-strong": ["red-filled", "red-filled-hover"],
  alert: ["yellow-light-color"],
  "alert-ground": ["yellow-light"],
  success: ["green-light-color"],
  "success-ground": ["green-light"],
} as const;

/** Sets Mantine's variables on the root element, because the page's policy blocks style elements. */
function setVariables({ style }: HTMLElement): void {
  for (const [token, names] of Object.entries(COLORS)) {
    for (const name of names) style.setProperty(`--mantine-color-${name}`, `var(--${token})`);
  }
  style.setProperty("--hue", String(site.look.hue));
  style.setProperty("--accent-hue", String(site.look.accentHue));
  style.setProperty("--mantine-primary-color-filled", "var(--accent)");
  style.setProperty("--mantine-font-family", "var(--text)");
  style.setProperty("--mantine-radius-default", "0.5rem");
}

const container = document.getElementById("inbox");
if (!container) throw new Error("index.html has no element for the inbox.");
setVariables(document.documentElement);
const root = createRoot(container);
const hasToken = obtainToken();
if (hasToken) {
  document.addEventListener("visibilitychange", followChanges);
  followChanges();
  keepUnsaved();
}
root.render(
  // The page's policy allows no style element, so all variables and classes are in files.
  <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
    <QueryClientProvider client={queryClient}>
      {hasToken ? <RouterProvider router={router} /> : <NoAccess />}
    </QueryClientProvider>
  </MantineProvider>,
);
