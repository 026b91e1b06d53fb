import "./styles/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { keepForOffline } from "./app/offline.ts";
import { connect } from "./client/connect.ts";
import { takeEdgeLink } from "./client/edge-settings.ts";
import { LastResort } from "./LastResort.tsx";

const startLink = takeEdgeLink();
const root = document.querySelector("#root");
if (root === null) throw new Error("The page has no place for the application.");
createRoot(root).render(
  <StrictMode>
    <LastResort>
      <App connect={connect} startPlace="browser" startLink={startLink} />
    </LastResort>
  </StrictMode>,
);
if (import.meta.env.PROD) keepForOffline();
