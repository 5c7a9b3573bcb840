import "./styles.css";
import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { followChanges, obtainToken, queryClient } from "./api.ts";
import { NoAccess } from "./app.tsx";
import { router } from "./router.tsx";
import { setVariables, theme } from "./theme.ts";

const container = document.getElementById("inbox");
if (!container) throw new Error("index.html has no element for the inbox.");
setVariables(document.documentElement);
const root = createRoot(container);
const hasToken = await obtainToken();
if (hasToken) followChanges();
root.render(
  // The page's policy allows no style element, so all variables and classes are in files.
  <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
    <QueryClientProvider client={queryClient}>
      {hasToken ? <RouterProvider router={router} /> : <NoAccess hasToken={false} />}
    </QueryClientProvider>
  </MantineProvider>,
);
