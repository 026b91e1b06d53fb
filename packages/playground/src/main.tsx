import "./styles/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { connect } from "./client/connect.ts";
import { takeEdgeSettings } from "./client/edge-settings.ts";

takeEdgeSettings();
const root = document.querySelector("#root");
if (root === null) throw new Error("The page has no place for the application.");
createRoot(root).render(
  <StrictMode>
    <App connect={connect} startPlace="browser" />
  </StrictMode>,
);
