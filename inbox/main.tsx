import { createRoot } from "react-dom/client";
import { obtainToken } from "./api.ts";
import { App, NoAccess } from "./app.tsx";
import "./styles/inbox.css";

const container = document.getElementById("inbox");
if (!container) throw new Error("index.html has no element for the inbox.");
const root = createRoot(container);
const hasToken = await obtainToken();
root.render(hasToken ? <App /> : <NoAccess reason="missing" />);
