import "./styles/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { connect } from "./client/connect.ts";
import { takeEdgeSettings } from "./client/edge-settings.ts";
import { LastResort } from "./LastResort.tsx";

takeEdgeSettings();
const root = document.querySelector("#root");
if (root === null) throw new Error("The page has no place for the application.");
createRoot(root).render(
  <StrictMode>
    <LastResort>
      <App connect={connect} startPlace="browser" />
    </LastResort>
  </StrictMode>,
);
