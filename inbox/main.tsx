import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { obtainToken } from "./api.ts";
import { NoAccess } from "./panels.tsx";
import { queryClient } from "./queries.ts";
import { router } from "./router.tsx";
import "./styles/inbox.css";

const container = document.getElementById("inbox");
if (!container) throw new Error("index.html has no element for the inbox.");
const root = createRoot(container);
const hasToken = await obtainToken();
root.render(
  hasToken ? (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  ) : (
    <NoAccess reason="missing" />
  ),
);
